// Asks a robot for something with MQTT.js and prints the final answer, as
// mosquitto_rr does at a terminal:
//
//   node ask.mjs wss://localhost:8084/mqtt op1 r1 mode/set '{"args":{"mode":"ato"}}'
//
// PASSWORD is the password, CA a file with the certificate of who signed the
// broker's; both may be left out.
import { readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import mqtt from 'mqtt'

const [url, name, robot, verb, text] = process.argv.slice(2)
const root = 'troupe/v1'
const ask = { id: randomUUID(), ...JSON.parse(text || '{}') }

let client
try {
  client = await mqtt.connectAsync(url, {
    protocolVersion: 4,
    username: name,
    password: process.env.PASSWORD,
    clientId: `${name}.js`, // the name, or the name, a dot and anything
    ca: process.env.CA && readFileSync(process.env.CA),
    // A client that connects again by itself sends again what was not
    // acknowledged: a command of a minute ago. Ask anew instead.
    reconnectPeriod: 0,
  }, false) // nor does it try the first connection again
} catch (refused) {
  console.error(`${url} does not take ${name}: ${refused.message || refused.code}`)
  process.exit(1)
}

client.on('message', (topic, payload) => {
  const answer = JSON.parse(payload)
  if (topic.endsWith('/notice')) {
    console.error(`the broker: ${answer.reason}: ${answer.detail}`)
    process.exitCode = 1
    client.end()
  } else if (answer.id === ask.id && !['ACCEPTED', 'IN_PROGRESS'].includes(answer.status)) {
    console.log(JSON.stringify(answer))
    process.exitCode = answer.status === 'SUCCEEDED' ? 0 : 1
    client.end()
  }
})
try {
  await client.subscribeAsync([`${root}/robots/${robot}/ack/${name}`, `${root}/clients/${name}/notice`], { qos: 1 })
} catch (refused) {
  console.error(`the broker lets ${name} read no answers of ${robot}: its role only looks on`)
  process.exit(1)
}
await client.publishAsync(`${root}/robots/${robot}/cmd/${name}/${verb}`, JSON.stringify(ask), { qos: 1 })
setTimeout(() => {
  console.error('no answer within 30 s: nobody knows whether it was done')
  process.exit(2)
}, 30_000).unref()
