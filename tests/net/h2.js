// SPDX-License-Identifier: Apache-2.0
// h2.js FOLDER PORT: an HTTP/2 server in TLS that logs every request. Says "ready".
const fs = require('node:fs');
const http2 = require('node:http2');
const [folder, port] = process.argv.slice(2);
const server = http2.createSecureServer({
    key: fs.readFileSync(folder + '/ca/server.key'),
    cert: fs.readFileSync(folder + '/ca/server.pem'),
});
server.on('stream', (stream, headers) => {
    const socket = stream.session.socket;
    fs.appendFileSync(folder + '/log', JSON.stringify({
        kind: 'http', version: 2, port: Number(port), address: socket.localAddress.replace(/^::ffff:/, ''),
        method: headers[':method'], target: headers[':path'], host: headers[':authority'],
        sni: socket.servername,
    }) + '\n');
    stream.respond({':status': 200, 'content-type': 'text/plain'});
    stream.end('lab ' + headers[':path'] + '\n');
});
server.on('sessionError', () => {});
server.listen(Number(port), '::', () => console.log('ready'));
