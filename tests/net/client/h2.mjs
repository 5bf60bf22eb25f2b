// SPDX-License-Identifier: Apache-2.0
import http2 from 'node:http2';
const url = new URL(process.argv[2]);
const session = http2.connect(url.origin);
session.on('error', (error) => {
    console.error(String(error));
    process.exit(1);
});
const request = session.request({':path': url.pathname});
request.on('error', () => process.exit(1));
request.setEncoding('utf8');
request.on('data', (data) => process.stdout.write(data));
request.on('end', () => session.close());
