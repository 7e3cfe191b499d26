import { createInterface } from 'node:readline'
import { startControl } from './control.ts'
import { familyNetworkSchema, familyPortsSchema } from './familySettings.ts'
import { createFamilies, type FamiliesOptions, loadFamily } from './startFamilies.ts'

const log = (line: string) => console.log(`${new Date().toISOString()} ${line}`)

/**
 * Main function of the process of the stand-ins. It reads two lines of JSON from standard input, ports and later the
 * network, and opens stand-ins when the control server is asked to. It ends when its input closes, so with its parent.
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
  // Solana is asked for first, so it loads while the EVM nodes start. An error appears again when it is opened.
  await loadFamily('solana').catch(() => undefined)
  await network
  log('the network is there')
}
