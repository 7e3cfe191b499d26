// Runs a local network as a process of its own, for tests that kill it: `networkRunner.ts <folder>`.
// Prints one line of JSON with its process ids when everything is up.
import { startLocalNetwork } from '../../src/network/startLocalNetwork.ts'
import { freeChainPorts } from './freeChainPorts.ts'

const [directory] = process.argv.slice(2)
if (directory === undefined) throw new Error('which folder?')
const network = await startLocalNetwork({ directory, ports: await freeChainPorts() })
const { base, optimism, hub } = network.chains
console.log(JSON.stringify({ pids: [base.pid, optimism.pid, hub.pid], baseUrl: base.url }))
process.once('SIGTERM', () => void network.stop())
