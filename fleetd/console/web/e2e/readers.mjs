// Opens the stream of fleetd so many times and throws away what it reads: consoles without a page.
//
//   node e2e/readers.mjs http://127.0.0.1:8080 8
import http from 'node:http';

const [url, count] = process.argv.slice(2);
let open = 0;
for (let i = 0; i < Number(count); i++) {
  http
    .get(`${url}/api/v1/stream`, { agent: false, headers: { 'Accept-Encoding': 'gzip' } }, (answer) => {
      answer.once('data', () => ++open === Number(count) && console.log('ready'));
      answer.resume();
    })
    .on('error', () => process.exit(1));
}
