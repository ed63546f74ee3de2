// Sends a command to a robot with MQTT.js and prints the final answer, as
// mosquitto_rr does at a terminal:
//
//   node ask.mjs wss://localhost:8084/mqtt op1 r1 mode/set '{"args":{"mode":"ato"}}'
//
// The environment may hold PASSWORD, and CA: a file with the CA certificate of the
// broker's certificate.
import { readFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import mqtt from 'mqtt'

const [url, name, robot, verb, text] = process.argv.slice(2)
const root = 'troupe/v1'
const command = `${root}/robots/${robot}/cmd/${name}/${verb}`
const request = { id: randomUUID(), ...JSON.parse(text || '{}') }

let client
try {
  client = await mqtt.connectAsync(url, {
    protocolVersion: 4,
    username: name,
    password: process.env.PASSWORD,
    ca: process.env.CA && readFileSync(process.env.CA),
    // A client that reconnects by itself would send unacknowledged commands again,
    // perhaps a minute late. Send a new command instead.
    reconnectPeriod: 0,
  }, false) // do not retry the first connection either
} catch (refused) {
  console.error(`${url} does not take ${name}: ${refused.message || refused.code}`)
  process.exit(1)
}

client.on('message', (topic, payload) => {
  const answer = JSON.parse(payload)
  if (topic.endsWith('/notice')) {
    // Every client of this user gets it, also about messages of the others. One without
    // a topic says that a client with the same id has taken over this connection.
    if (answer.topic !== command && answer.reason !== 'taken_over') return
    console.error(`the broker: ${answer.reason}: ${answer.detail}`)
    process.exitCode = 1
    client.end()
  } else if (answer.id === request.id && !['ACCEPTED', 'IN_PROGRESS'].includes(answer.status)) {
    console.log(JSON.stringify(answer))
    process.exitCode = answer.status === 'SUCCEEDED' ? 0 : 1
    client.end()
  }
})
try {
  await client.subscribeAsync([`${root}/robots/${robot}/ack/${name}`, `${root}/clients/${name}/notice`], { qos: 1 })
} catch (refused) {
  console.error(`the broker does not let ${name} read answers of ${robot}: its role may only observe`)
  process.exit(1)
}
await client.publishAsync(command, JSON.stringify(request), { qos: 1 })
setTimeout(() => {
  console.error('no answer within 30 s: the command may or may not have been executed')
  process.exit(2)
}, 30_000).unref()
