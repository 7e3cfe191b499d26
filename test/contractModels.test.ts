// Goal: the contracts that the protocol's model is played on are those of the network. Method: random calls, each
// made of the real contracts on real nodes and of their models, in blocks of one time: equal outcome, equal name of
// the refusal, equal events, equal state as everybody reads it. CAUSEWAY_FAULTS=1 runs the long form.
import type { Hex } from '@causeway/core'
import { type LocalAccount, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import fc from 'fast-check'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Chain, Receipt } from './model/chain/chain.ts'
import { tokenCalls } from './model/contracts/calls.ts'
import {
  type Cast,
  type ContractCall,
  contractCall,
  transactionOf,
  usedViewOf,
  viewsOf,
} from './model/contracts/randomCalls.ts'
import { textHash } from './model/hash.ts'
import { grantedWei, modelNetwork, type Network } from './model/network.ts'
import { nodeNetwork } from './model/nodeNetwork.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const runs = isLongForm ? 100 : 10
const callsPerRun = 40

let testNetwork: TestNetwork
let nodes: Network

beforeAll(async () => {
  testNetwork = await startTestNetwork()
  nodes = await nodeNetwork(testNetwork)
})
afterAll(() => testNetwork?.stop())

let casts = 0
/** Parties that no chain has seen. */
function newCast(): Cast {
  casts += 1
  const parties = [0, 1, 2, 3].map((index): LocalAccount => {
    const privateKey = textHash(`party ${index} of run ${casts}`)
    return { privateKey, address: `0x${privateKeyToAddress(privateKey).slice(2).toLowerCase()}` }
  })
  return { parties, run: casts }
}

/** Equal tokens on both sides. */
async function fund(models: Network, { parties }: Cast): Promise<void> {
  const data = tokenCalls.mint(parties.map(({ address: to }) => ({ to, amount: 500n })))
  const sent = { from: models.keys.deployer.address, to: models.places.base.tokens.USDC, data }
  await sameTime(models, 'base')
  const [one, other] = [await nodes.chains.base.transact(sent), await models.chains.base.transact(sent)]
  expect(shown(one)).toEqual(shown(other))
}

/** Balances of earlier runs in the depository, and the parties' native coin, which the node provides. */
async function heldBefore({ parties }: Cast) {
  const { depository, tokens } = nodes.places.base
  const units = BigInt(await nodes.chains.base.call(tokens.USDC, tokenCalls.balanceOf(depository)))
  const wei = new Map(parties.map(({ address }) => [address, grantedWei]))
  wei.set(depository, await nodes.chains.base.weiOf(depository))
  return { wei, units: new Map([[depository, units]]) }
}

/** The node's next block is of the second that the model's will be. */
async function sameTime(models: Network, chain: 'base' | 'hub'): Promise<void> {
  const timestamp = models.chains[chain].headSeconds + 2n
  await testNetwork.chains[chain].chain.node.setNextBlockTimestamp({ timestamp })
}

const shown = ({ succeeded, errorName, logs }: Receipt) => ({
  succeeded,
  errorName,
  logs: logs.map(({ address, topics, data }) => ({ address: address.toLowerCase(), topics, data })),
})

const read = (chain: Chain, to: Hex, data: Hex) => chain.call(to, data)

async function play(calls: readonly ContractCall[]): Promise<void> {
  const head = Math.max(Number(nodes.chains.base.headSeconds), Number(nodes.chains.hub.headSeconds))
  const cast = newCast()
  const models = modelNetwork(undefined, {
    ...nodes,
    seconds: BigInt(head) + 10n,
    ...(await heldBefore(cast)),
  })
  await fund(models, cast)
  for (const call of calls) {
    const { chain, sent } = await transactionOf(call, nodes, cast)
    // A party of the models has native coin as it has on a node.
    await sameTime(models, chain)
    const [real, model] = [
      await nodes.chains[chain].transact(sent),
      await models.chains[chain].transact(sent),
    ]
    expect({ call, ...shown(model) }).toEqual({ call, ...shown(real) })
    const used = usedViewOf(call, nodes, cast)
    if (used === undefined) continue
    const { depository } = nodes.places.base
    const [isUsed, isUsedInModel] = await Promise.all([
      read(nodes.chains.base, depository, used),
      read(models.chains.base, depository, used),
    ])
    expect(isUsedInModel).toBe(isUsed)
  }
  for (const { chain, to, data } of viewsOf(nodes, cast)) {
    const [real, model] = await Promise.all([
      read(nodes.chains[chain], to, data),
      read(models.chains[chain], to, data),
    ])
    expect({ chain, to, data, result: model }).toEqual({ chain, to, data, result: real })
  }
}

test('whatever is called in whatever order, models and contracts answer alike', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(contractCall, { minLength: callsPerRun / 2, maxLength: callsPerRun }), play),
    { numRuns: runs },
  )
}, 600_000)
