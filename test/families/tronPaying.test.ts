// Goal: no node of a Tron chain alone has a payment made twice, taken for made, refused, or run out of energy. Who gains by
// breaking it: a user whose order is paid twice, one whose fill is believed and not there, a node that burns the solver's
// coin. Method: a fill wallet over three facades of one chain of contracts, of which one lies or is silent.
import { type Hex, Secret } from '@causeway/core'
import { tronAddress, tronHexAddress } from '@causeway/core/encodings'
import { TronFees, usualTokenEnergy } from '@causeway/families/rules'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { PayingChain, PaymentTerms } from '../../packages/families/src/shared/payingChain.ts'
import { tronPaying } from '../../packages/families/src/tron/paying/tronPayingChain.ts'
import { tronQuotingChain } from '../../packages/families/src/tron/quoting/tronQuotingChain.ts'
import type { ChainClient } from '../../packages/rpc/src/client.ts'
import { chainId, startTronBed, type TronBed, trx } from './tronSupport/tronBed.ts'

const fees = new TronFees({ sunPerEnergy: 100n, sunPerByte: 1_000n, tokenEnergy: usualTokenEnergy })
const bid = { fees, ceiling: 500n }
const word = (value: number): string => value.toString(16).padStart(64, '0')
let bed: TronBed
let nodes: readonly FaultyService[]
let client: ChainClient
let chain: PayingChain
let count = 0

beforeAll(async () => {
  bed = await startTronBed()
  nodes = await Promise.all([1, 2, 3].map(() => bed.startFacade()))
  client = tronQuotingChain.connect({
    ...{ id: 'tron', vmType: 'tron-vm', network: undefined, hubChainId: `${chainId}`, additionalData: {} },
    ...{ ready: true, rpcThreshold: 2, unsetVariables: [], depository: bed.depository },
    endpoints: nodes.map(({ url }) => new Secret(url)),
  })
  const key = new Secret(`0x${'5e'.repeat(32)}`)
  chain = tronPaying.open({ client, key, fillContract: bed.evm.deployment.fillContract })
  await bed.evm.node('anvil_setBalance', [tronHexAddress(chain.address), '0xe8d4a51000'])
}, 60_000)
afterEach(() => {
  for (const node of nodes ?? []) node.set({ kind: 'none' })
})
afterAll(async () => {
  await client?.close()
  await Promise.all((nodes ?? []).map((node) => node.stop()))
  await bed?.stop()
})

/** A payment of coin that nobody has made. */
function aPayment() {
  count += 1
  const id: Hex = `0x${count.toString(16).padStart(64, 'a')}`
  const recipient = tronAddress(`0x${count.toString(16).padStart(40, 'b')}`)
  const payments = [{ recipient, currency: trx, amount: 1_000n }]
  return { id, recipient, terms: { id, mark: 'paid', orderId: id, payments } as const }
}

async function planned({ terms }: { readonly terms: PaymentTerms }) {
  const plan = await chain.plan(terms, bid)
  if ('refusal' in plan) throw new Error(plan.refusal)
  return plan
}

const balanceOf = async (account: string): Promise<bigint> =>
  BigInt(String(await bed.evm.node('eth_getBalance', [tronHexAddress(account), 'latest'])))

/** The first node answers so where its path ends like this. */
function lying(end: string, change: (body: object) => unknown): void {
  nodes[0]?.set({
    kind: 'lie',
    rewrite: (path, body) => (path.endsWith(end) ? change(Object(body)) : body),
  })
}

describe('what was paid', () => {
  test.each([
    ['paid, and is not', 1],
    ['closed, and is not', 2],
  ])('is not told by one node of three: %s', async (_what, state) => {
    const { id } = aPayment()
    lying('triggerconstantcontract', (body) => ({ ...body, constant_result: [word(state)] }))
    expect(await chain.readFinal(id)).toMatchObject({ state: 'open' })
  })

  test('is not hidden by one node of three, nor dated later than it was seen', async () => {
    const payment = aPayment()
    await chain.broadcast(await chain.sign(await planned(payment), bid))
    await bed.evm.mine(4)
    lying('triggerconstantcontract', (body) => ({ ...body, constant_result: [word(0)] }))
    expect(await chain.readFinal(payment.id)).toMatchObject({ state: 'paid' })
    lying('getblock', (body) => withTime(body, Date.now() + 10 ** 9))
    const { timestampSeconds } = await chain.readFinal(payment.id)
    expect(timestampSeconds).toBeLessThan(Date.now() / 1_000 + 10 ** 5)
  })

  test('is not read where two of three are silent or contradict each other', async () => {
    const { id } = aPayment()
    lying('triggerconstantcontract', (body) => ({ ...body, constant_result: [word(1)] }))
    nodes[1]?.set({ kind: 'http', status: 503 })
    await expect(chain.readFinal(id)).rejects.toThrow()
  })
})

/** As a node that runs ahead of the others would answer. */
function withTime(body: object, timestamp: number): unknown {
  const { block_header: header = {} } = body as { block_header?: { raw_data?: object } } // CAST: a stand-in's own body
  return { ...body, block_header: { ...header, raw_data: { ...header.raw_data, timestamp } } }
}

describe('what a transaction became', () => {
  test('is not told by one node of three, and nothing expires by its clock', async () => {
    const payment = aPayment()
    const signed = await chain.sign(await planned(payment), bid)
    const { hash, lastValidHeight } = signed
    lying('gettransactioninfobyid', () => ({ id: hash, blockNumber: 5, blockTimeStamp: 1_790_000_000_000 }))
    expect(await chain.landingOf([signed])).toMatchObject({ kind: 'none' })
    lying('getblock', (body) => withTime(body, Number(lastValidHeight) + 10 ** 9))
    const landing = await chain.landingOf([signed])
    expect(landing.kind === 'none' && landing.finalHeight < lastValidHeight).toBe(true)
  })

  test('is not final while the chain may replace it', async () => {
    const payment = aPayment()
    const signed = await chain.sign(await planned(payment), bid)
    await chain.broadcast(signed)
    expect(await chain.landingOf([signed])).toMatchObject({ kind: 'landed', isFinal: false })
    await bed.evm.mine(4)
    expect(await chain.landingOf([signed])).toMatchObject({ succeeded: true, isFinal: true })
  })
})

describe('one node of three', () => {
  test('has no payment refused, and none run out of energy', async () => {
    const payment = aPayment()
    const { units } = await planned(payment)
    for (const change of [
      (body: object) => ({ ...body, result: { result: true, message: 'REVERT' } }),
      (body: object) => ({ ...body, energy_used: 1 }),
      (body: object) => ({ ...body, energy_used: 10 ** 9 }),
    ]) {
      lying('triggerconstantcontract', change)
      expect((await planned(payment)).units).toBe(units)
    }
  })

  test('that names a block which is not there costs one lifetime: the next transaction is taken', async () => {
    lying('/walletsolidity/getblock', (body) => {
      const { blockID } = body as { blockID?: string } // CAST: a stand-in's own body
      return { ...body, blockID: `${blockID?.slice(0, 16)}${'ee'.repeat(24)}` }
    })
    const payment = aPayment()
    const plan = await planned(payment)
    for (let turn = 0; turn < 3; turn += 1) {
      const signed = await chain.sign(plan, bid)
      await chain.broadcast(signed).catch(() => undefined)
      if ((await balanceOf(payment.recipient)) > 0n) return
    }
    expect(await balanceOf(payment.recipient)).toBe(1_000n)
  })

  test('that takes nothing stops nothing: another one has it', async () => {
    const payment = aPayment()
    lying('broadcasthex', () => ({ code: 'SERVER_BUSY' }))
    await chain.broadcast(await chain.sign(await planned(payment), bid))
    expect(await balanceOf(payment.recipient)).toBe(1_000n)
  })
})

test('of all that was signed for one id one is paid, and none behind its closing', async () => {
  const [twice, closed] = [aPayment(), aPayment()]
  const plan = await planned(twice)
  for (const signed of [await chain.sign(plan, bid), await chain.sign(plan, bid)])
    await chain.broadcast(signed)
  expect(await balanceOf(twice.recipient)).toBe(1_000n)

  const payment = await chain.sign(await planned(closed), bid)
  const closing = await planned({ terms: { ...closed.terms, mark: 'closed', payments: [] } })
  await chain.broadcast(await chain.sign(closing, bid))
  await chain.broadcast(payment)
  expect(await balanceOf(closed.recipient)).toBe(0n)
})
