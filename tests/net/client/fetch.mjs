// SPDX-License-Identifier: Apache-2.0
const response = await fetch(process.argv[2]);
process.stdout.write(await response.text());
process.exitCode = response.ok ? 0 : 1;
