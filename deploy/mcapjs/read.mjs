// Reads a flight record with the library with which Foxglove reads one, and prints what it
// found as JSON:
//
//   node read.mjs fall.mcap
import { open } from 'node:fs/promises'
import zstd from '@foxglove/wasm-zstd'
import { McapIndexedReader } from '@mcap/core'

const file = await open(process.argv[2])
await zstd.isLoaded
const reader = await McapIndexedReader.Initialize({
  readable: {
    size: async () => BigInt((await file.stat()).size),
    read: async (offset, size) => {
      const bytes = new Uint8Array(Number(size))
      await file.read(bytes, 0, bytes.length, Number(offset))
      return bytes
    },
  },
  decompressHandlers: { zstd: (bytes, size) => zstd.decompress(bytes, Number(size)) },
})

const parse = bytes => JSON.parse(new TextDecoder().decode(bytes))
const topics = {}
let last = 0n
let backwards = 0 // messages that are older than the one before
for await (const m of reader.readMessages()) {
  const channel = reader.channelsById.get(m.channelId)
  const schema = reader.schemasById.get(channel.schemaId)
  const fields = parse(schema.data).properties
  const topic = topics[channel.topic] ??= { encoding: `${channel.messageEncoding} ${schema.encoding}`, messages: 0, without_schema: 0 }
  topic.messages++
  topic.without_schema += Object.keys(parse(m.data)).filter(field => !(field in fields)).length
  backwards += m.logTime < last
  last = m.logTime
}
await file.close()
console.log(JSON.stringify({ messages: Number(reader.statistics.messageCount), backwards, topics }))
