// Operator commands on the network that `npm start` runs: move prices and fees, mine, fund an account.
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { attachLocalNetwork, parseOperatorCommand, runOperatorCommand } from '@causeway/localnet'

const directory = join(import.meta.dirname, '..', '.local')

try {
  const command = parseOperatorCommand(process.argv.slice(2))
  const network = await attachLocalNetwork(directory)
  console.log(await runOperatorCommand(network, command))
} catch (error) {
  if (!(error instanceof ConfigurationError) && !(error instanceof RangeError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
