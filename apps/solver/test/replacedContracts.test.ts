// Goal: an upgrade that replaces the fill contract strands no order, and pays none twice. Attackers: a service, or who
// stole its key, that offers the same claim or refund through another of the contracts, to a solver that lost its
// database; a contract that keeps no record. Method: the solver as an operator runs it, on real nodes, beside the
// fill contract that release 0.2.0 deployed.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { create2Proxy, fillContractAbi, planCreate2Deployment } from '@causeway/contracts'
import { type Hex, hexToBytes, keccak256Hex } from '@causeway/core'
import { type TestNetwork, waitUntil, wrappedNativeAbi } from '@causeway/localnet'
import { concatHex, encodeFunctionData, erc20Abi, zeroAddress, zeroHash } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimItem, fillItem, freshAddress, type Item, paidOrder, refundItem } from './support/paidOrders.ts'
import { type SolverBed, startSolverBed } from './support/solverBed.ts'
import { changedConfigs, type UserChain } from './support/solverBench.ts'

const chainKeys: readonly UserChain[] = ['base', 'optimism']
const states = { open: 0, paid: 1, closed: 2 }

let bed: SolverBed
/** As 0.2.0 had it: orders name its contract. */
let before: TestNetwork
let replaced: Hex

beforeAll(async () => {
  bed = await startSolverBed()
  const file = join(import.meta.dirname, '../../../packages/contracts/test/fixtures/fillContract-0.2.0.hex')
  // CAST: the file is hex, or nothing of known code is deployed.
  const { salt, initCode, address } = planCreate2Deployment(
    zeroHash,
    (await readFile(file, 'utf8')).trim() as Hex,
  )
  for (const key of chainKeys) {
    const { chain } = bed.network.chains[key]
    const data = concatHex([salt, initCode])
    await chain.send(bed.network.keys.deployer, [{ what: 'the contract of 0.2.0', to: create2Proxy, data }])
  }
  replaced = address
  before = withContract(replaced)
})
afterAll(() => bed?.stop())

function withContract(fillContract: Hex): TestNetwork {
  const { deployment } = bed.network
  const [base, optimism] = [
    { ...deployment.base, fillContract },
    { ...deployment.optimism, fillContract },
  ]
  return { ...bed.network, deployment: { ...deployment, base, optimism } }
}

/** The chain file after the upgrade. @param more what else its entries say */
async function configsListing(contract: Hex, more: object = {}): Promise<Readonly<Record<string, string>>> {
  const change = (text: string) => {
    const { chains, ...rest } = JSON.parse(text)
    const listed = chains.map((chain: { id: string; fillContracts?: readonly string[] }) =>
      chainKeys.some((key) => key === chain.id)
        ? { ...chain, fillContracts: [contract, ...(chain.fillContracts ?? [])], ...more }
        : chain,
    )
    return JSON.stringify({ ...rest, chains: listed })
  }
  return { CONFIG_DIR: await changedConfigs('chains.local.json', change) }
}

async function stateAt(chain: UserChain, contract: Hex, id: Hex): Promise<number> {
  return bed.network.chains[chain].chain.client.readContract({
    address: contract,
    abi: fillContractAbi,
    functionName: 'stateOf',
    args: [bed.network.keys.fillWallet.address, id],
  })
}

async function isMinedThrough(contract: Hex, { chain }: Item, hash: string | undefined): Promise<boolean> {
  // CAST: a solver reports a transaction's hash.
  const receipt = await bed.network.chains[chain].chain.client.waitForTransactionReceipt({
    hash: hash as Hex,
  })
  return receipt.status === 'success' && receipt.to === contract
}

describe('a replaced fill contract of 0.2.0', () => {
  test('L-29: pays the orders that name it, also with calls, and what they get back', async () => {
    const { work, solver } = await bed.start(await configsListing(replaced))
    const [plain, called] = [freshAddress(), freshAddress()]
    const weth = bed.network.deployment.optimism.wrappedNative
    const wrap = encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' })
    const send = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [called, 9n] })
    const fills = [
      fillItem(before, await paidOrder(before, { payments: [{ recipient: plain, amount: 1_000n }] })),
      fillItem(
        before,
        await paidOrder(before, {
          payments: [{ recipient: called, currency: zeroAddress, amount: 9n }],
          calls: [
            { to: weth, value: 9n, data: wrap },
            { to: weth, value: 0n, data: send },
          ],
        }),
      ),
    ]
    const given = await paidOrder(before)
    const refund = refundItem(before, given)
    const items = [...fills, refund]
    for (const item of items) work.add(item)
    await waitUntil('all are reported', () => items.every(({ id }) => work.reports.has(id)), {
      circumstances: () => `${[...work.failures.values()].join()}\n${solver.output()}`,
    })
    for (const item of items)
      expect(await isMinedThrough(replaced, item, work.reports.get(item.id)?.at(-1))).toBe(true)
    expect(await bed.tokenBalance('optimism', bed.usdcOf('optimism'), plain)).toBe(1_000n)
    expect(await bed.tokenBalance('optimism', weth, called)).toBe(9n)
    const { fillContract: own } = bed.network.deployment.optimism
    for (const { orderId } of fills)
      expect([await stateAt('optimism', replaced, orderId), await stateAt('optimism', own, orderId)]).toEqual(
        [states.paid, states.open],
      )
    // The order could still be filled: it was closed where it would be, before anything went back.
    expect(await stateAt('optimism', replaced, given.orderId)).toBe(states.closed)
  })

  test('L-29: pays no claim that another of the contracts has paid, whatever the solver forgot', async () => {
    const configs = await configsListing(replaced)
    const recipient = freshAddress()
    const currency = bed.usdcOf('base')
    const first = await bed.start(configs)
    const claim = claimItem(before, 'base', { recipient, currency, amount: 500n })
    first.work.add(claim)
    await waitUntil('it is paid', () => first.work.reports.has(claim.id))
    expect(await isMinedThrough(replaced, claim, first.work.reports.get(claim.id)?.at(-1))).toBe(true)
    first.solver.kill('SIGTERM')
    await first.solver.ended
    const { client } = bed.network.chains.base.chain
    const { blockNumber } = await client.getTransactionReceipt({
      // CAST: as above.
      hash: first.work.reports.get(claim.id)?.at(-1) as Hex,
    })
    await waitUntil(
      'it is final',
      async () => (await client.getBlock({ blockTag: 'finalized' })).number >= blockNumber,
    )

    // With a database of its own, that is, none of the first one's records.
    const second = await bed.start(configs)
    const { fillContract } = bed.network.deployment.base
    const again = [claim, { ...claim, payload: { ...claim.payload, fillContract } }].map((item, index) => ({
      ...item,
      id: `${item.id.slice(0, -2)}f${index}`,
    }))
    for (const item of again) second.work.add(item)
    await waitUntil('both are refused', () => again.every(({ id }) => second.work.failures.has(id)))
    expect(await bed.tokenBalance('base', currency, recipient)).toBe(500n)
  })
})

test('L-29: what a contract of other code was to pay is refused, and its deposit goes back through the own one', async () => {
  const { multicall3, fillContract: own } = bed.network.deployment.base
  const other = withContract(multicall3)
  const code = await bed.network.chains.base.chain.client.getCode({ address: multicall3 })
  // As `contracts deploy --write` leaves the file.
  const codeHashes = { [multicall3]: keccak256Hex(hexToBytes(code ?? '0x')) }
  const { work } = await bed.start(await configsListing(multicall3, { codeHashes }))
  const paid = await paidOrder(other)
  const [fill, refund] = [fillItem(other, paid), refundItem(other, paid)]
  work.add(fill)
  await waitUntil('it is refused', () => work.failures.has(fill.id))
  expect(work.failures.get(fill.id)).toEqual(['ORDER_REFUSED: the fill contract is another one'])
  work.add(refund)
  await waitUntil('it is given back', () => work.reports.has(refund.id))
  expect(await isMinedThrough(own, refund, work.reports.get(refund.id)?.at(-1))).toBe(true)
})
