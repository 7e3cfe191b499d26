import { createInterface } from 'node:readline'
import { startControl } from './control.ts'
import { familyNetworkSchema, familyPortsSchema } from './familySettings.ts'
import { createFamilies, type FamiliesOptions, loadFamily } from './startFamilies.ts'

const log = (line: string) => console.log(`${new Date().toISOString()} ${line}`)

/**
 * Runs the process of the stand-ins. It reads two lines of JSON from its standard input, ports and later the network,
 * opens what it is asked to, and ends when its input is closed: with its parent, whatever ends the parent.
 */
export async function runFamilies(options: FamiliesOptions): Promise<void> {
  const end = (line: string) => {
    log(line)
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end(`stopped by ${signal}`))
  const input = createInterface({ input: process.stdin })
  const lines = input[Symbol.asyncIterator]()
  input.once('close', () => end('the network is gone'))
  const readLine = async (): Promise<unknown> => {
    const { value, done } = await lines.next()
    if (done) throw new Error('standard input ended')
    return JSON.parse(value)
  }
  const ports = familyPortsSchema.parse(await readLine())
  const network = readLine().then((line) => createFamilies(ports, familyNetworkSchema.parse(line), options))
  const control = await startControl(ports.control, network)
  log(`control at ${control.url}`)
  // The first that is asked for, while the nodes of the EVM still come up.
  // Whoever opens it is told what it lacks.
  await loadFamily('solana').catch(() => undefined)
  await network
  log('the network is there')
}
