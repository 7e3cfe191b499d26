// Operator commands on the network that `npm start` runs: move prices and fees, mine, fund, deposit.
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { attachLocalNetwork, parseOperatorCommand, runOperatorCommand } from '@causeway/localnet'
import { readPlaces } from './start/options.ts'

const root = join(import.meta.dirname, '..')

try {
  const command = parseOperatorCommand(process.argv.slice(2))
  const { directory } = readPlaces(process.env, root)
  const network = await attachLocalNetwork(directory)
  console.log(await runOperatorCommand(network, command))
} catch (error) {
  if (!(error instanceof ConfigurationError) && !(error instanceof RangeError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
