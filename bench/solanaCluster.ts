// Chains of the rows with Solana, in a process of their own: the cluster's runtime must not share a thread with what
// makes the load. Prints one line of JSON once they stand, and ends at SIGTERM.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceEnvironment } from '../apps/quote-api/test/fixtures/service.ts'
import { startSolanaNetwork } from '../test/support/solanaService.ts'

const { network, bed, variables, stop } = await startSolanaNetwork({ blockTimeSeconds: 2 })
const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
const { base, optimism } = network.deployment
const sideOf = ({ chainId, tokens }: typeof base) => ({ chainId, usdc: tokens.USDC })
const chains = {
  environment: await serviceEnvironment(network, directory, variables),
  base: sideOf(base),
  optimism: sideOf(optimism),
  mint: bed.mint.toBase58(),
}
process.once('SIGTERM', () => {
  void stop().then(() => rm(directory, { recursive: true, force: true }).then(() => process.exit(0)))
})
console.log(JSON.stringify(chains))
