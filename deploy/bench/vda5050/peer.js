// A vehicle of vda-5050-lib, or its master: for each line of standard input the master sends one instant action to
// the vehicle and prints how many microseconds later it was reported as finished.
//
//   node peer.js vehicle mqtt://127.0.0.1:1883
//   node peer.js master mqtt://127.0.0.1:1883
//
// The virtual vehicle of the library looks at its actions in ticks. Its default, 5 a second, would be most of what is
// measured, so it has 1,000.
const readline = require('node:readline')
const { AgvController, BlockingType, MasterController, VirtualAgvAdapter } = require('vda-5050-lib')

const [role, brokerUrl] = process.argv.slice(2)
const options = { interfaceName: 'bench', transport: { brokerUrl }, vdaVersion: '2.0.0' }
const vehicle = { manufacturer: 'bench', serialNumber: 'v1' }
const timeoutMs = 5000

async function main() {
  if (role === 'vehicle') {
    await new AgvController(vehicle, options, { agvAdapterType: VirtualAgvAdapter }, { tickRate: 1000 }).start()
    console.log('ready')
    return
  }
  const master = new MasterController(options, {})
  await master.start()
  console.log('ready')
  let pausing = false
  for await (const _ of readline.createInterface({ input: process.stdin })) {
    pausing = !pausing
    console.log(await act(master, pausing ? 'startPause' : 'stopPause'))
  }
}

// Resolves to "took MICROSECONDS", or to why nothing was finished.
function act(master, actionType) {
  const actionId = master.createUuid()
  const action = { actionId, actionType, blockingType: BlockingType.Hard, actionParameters: [] }
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve('lost'), timeoutMs)
    const began = process.hrtime.bigint()
    const done = (line) => {
      clearTimeout(late)
      resolve(line)
    }
    master.initiateInstantActions(vehicle, { instantActions: [action] }, {
      onActionStateChanged: ({ actionStatus }) => {
        if (actionStatus === 'FINISHED') done(`took ${(process.hrtime.bigint() - began) / 1000n}`)
        if (actionStatus === 'FAILED') done('failed')
      },
      onActionError: (error) => done(`failed ${JSON.stringify(error)}`),
    })
  })
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
