// The stand-ins of Solana, Bitcoin, Tron, Hyperliquid and Lighter in one process; `npm start` runs it. Reads two
// lines of JSON from its standard input, ports and later the network, and ends when that is closed: with its
// parent, whatever ends the parent.
import { createInterface } from 'node:readline'
import { startControl } from './control.ts'
import { familyNetworkSchema, familyPortsSchema } from './familySettings.ts'
import { startFamilies } from './startFamilies.ts'

const log = (line: string) => console.log(`${new Date().toISOString()} ${line}`)
const end = (line: string) => {
  log(line)
  process.exit(0)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end(`stopped by ${signal}`))

const input = createInterface({ input: process.stdin })
const lines = input[Symbol.asyncIterator]()
input.once('close', () => end('the network is gone'))

async function readLine(): Promise<unknown> {
  const { value, done } = await lines.next()
  if (done) throw new Error('standard input ended')
  return JSON.parse(value)
}

const ports = familyPortsSchema.parse(await readLine())
const families = startFamilies(
  ports,
  readLine().then((network) => familyNetworkSchema.parse(network)),
)
const control = await startControl(ports.control, families)
log(`control at ${control.url}`)
await families
log('every stand-in is open')
