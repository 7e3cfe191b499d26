// Prints the NetworkDeployment of throw-away chains: the addresses that `configs/*.local.json` list.
// They depend on the contracts' code alone, so any machine prints the same.
// Run: node scripts/run.mjs scripts/localAddresses.ts
import { randomBytes } from 'node:crypto'
import { localChainIds } from '../packages/localnet/src/contracts/deployment.ts'
import { deployNetwork } from '../packages/localnet/src/deploy/deployNetwork.ts'
import { generateLocalKeys } from '../packages/localnet/src/keys/generateKeys.ts'
import { startAnvil } from '../packages/localnet/src/nodes/anvil.ts'

const nodes = await Promise.all(
  [localChainIds.base, localChainIds.optimism, localChainIds.hub].map((chainId) => startAnvil({ chainId })),
)
try {
  const [base, optimism, hub] = nodes.map(({ url }) => url)
  if (base === undefined || optimism === undefined || hub === undefined)
    throw new Error('three nodes expected')
  const deployment = await deployNetwork({
    baseUrl: base,
    optimismUrl: optimism,
    hubUrl: hub,
    keys: generateLocalKeys(() => `0x${randomBytes(32).toString('hex')}`),
  })
  console.log(JSON.stringify(deployment, null, 2))
} finally {
  await Promise.all(nodes.map((node) => node.stop()))
}
