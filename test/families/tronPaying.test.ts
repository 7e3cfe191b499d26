// Goal: on Tron no node alone has a payment refused, or run out of energy; a token can be paid before anybody allowed it;
// and nobody is paid late. Who gains by breaking it: a node that burns the solver's coin, whoever makes a wallet allow, or
// burn, again and again. Method: a fill wallet over three facades of one chain of contracts, of which one lies; a desk with
// real PostgreSQL.
import { tronHexAddress } from '@causeway/core/encodings'
import type { PayingChain, PaymentTerms } from '@causeway/families'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createAllowances } from '../../apps/solver/src/wallet/inventory.ts'
import { aTask, begin, keptOf } from '../../apps/solver/test/support/payerRounds.ts'
import {
  startTronBench,
  type TronBench,
  tronCeiling,
  tronChainId,
  tronFees,
} from '../../apps/solver/test/support/tronBench.ts'

const bid = { fees: tronFees, ceiling: tronCeiling }
const amount = 1_000n
let network: TestNetwork
let bench: TronBench
let paying: PayingChain
let count = 0

beforeAll(async () => {
  network = await startTestNetwork()
  bench = await startTronBench(network)
  paying = bench.open()
}, 60_000)
afterEach(() => bench.faults.heal())
afterAll(async () => {
  await bench?.stop()
  await network?.stop()
})

/** A payment of coin that nobody has made. */
function termsOf(recipient = bench.account(), more: Partial<PaymentTerms> = {}): PaymentTerms {
  count += 1
  const id = `0x${count.toString(16).padStart(64, 'a')}` as const
  return { id, mark: 'paid', orderId: id, payments: [{ recipient, currency: bench.coin, amount }], ...more }
}
async function planned(terms: PaymentTerms) {
  const plan = await paying.plan(terms, bid)
  if ('refusal' in plan) throw new Error(plan.refusal)
  return plan
}

test('a token is allowed by one chore, however often it is asked for, and paid then', async () => {
  const { evm, usdc, wallet } = bench
  const [rich] = evm.network.keys.users
  if (rich === undefined) throw new Error('no user')
  const args = [tronHexAddress(wallet), 10n * amount] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  await evm.send(rich, evm.deployment.tokens.USDC, data)

  const process = await bench.process(await bench.database())
  const { desk, records } = process
  const open = () => records.active(wallet, tronChainId, Number.MAX_SAFE_INTEGER)
  const isAllowed = createAllowances({ desk, paying: process.paying, open })
  for (let turn = 0; turn < 3; turn += 1) expect(await isAllowed(usdc, amount)).toBe(false)
  expect(await open()).toHaveLength(1)
  for (let turn = 0; turn < 3; turn += 1) {
    await desk.advance()
    await bench.settle()
  }
  expect(await open()).toEqual([])
  expect(await isAllowed(usdc, amount)).toBe(true)

  const recipient = bench.account()
  const task = await aTask(bench, { recipient, amount, currency: usdc })
  await process.desk.release(await begin(process, task), 'given')
  await bench.settle()
  await process.desk.advance()
  expect(await keptOf(process, task)).toMatchObject({ outcome: 'done' })
  const balanceOf = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [tronHexAddress(recipient)],
  })
  const held = await evm.node('eth_call', [{ to: evm.deployment.tokens.USDC, data: balanceOf }, 'latest'])
  expect(BigInt(String(held))).toBe(amount)
})

describe('one node of three', () => {
  test('has no payment refused, and none run out of energy', async () => {
    const terms = termsOf()
    const { units } = await planned(terms)
    for (const change of [
      (body: object) => ({ ...body, result: { result: true, message: 'REVERT' } }),
      (body: object) => ({ ...body, energy_used: 1 }),
      (body: object) => ({ ...body, energy_used: 10 ** 9 }),
    ]) {
      bench.lie({ triggerconstantcontract: change })
      expect((await planned(terms)).units).toBe(units)
    }
  })

  test('that names a block which is not there costs one lifetime: the next transaction is taken', async () => {
    bench.lie({
      '/walletsolidity/getblock': (body) => {
        const { blockID } = body as { blockID?: string } // CAST: a stand-in's own body
        return { ...body, blockID: `${blockID?.slice(0, 16)}${'ee'.repeat(24)}` }
      },
    })
    const recipient = bench.account()
    const plan = await planned(termsOf(recipient))
    for (let turn = 0; turn < 3; turn += 1) {
      const signed = await paying.sign(plan, bid)
      await paying.broadcast(signed).catch(() => undefined)
      if ((await bench.held(recipient)) > 0n) return
    }
    expect(await bench.held(recipient)).toBe(amount)
  })

  test('that takes nothing stops nothing: another one has it', async () => {
    const recipient = bench.account()
    bench.lie({ broadcasthex: () => ({ code: 'SERVER_BUSY' }) })
    await paying.broadcast(await paying.sign(await planned(termsOf(recipient)), bid))
    expect(await bench.held(recipient)).toBe(amount)
  })
})

test('P-41: accounts with code are paid, but no contract that takes no coin', async () => {
  const account = bench.account()
  await bench.evm.node('anvil_setCode', [tronHexAddress(account), '0x5f5fa000'])
  expect(await paying.plan(termsOf(account), bid)).toHaveProperty('units')
  expect(await paying.plan(termsOf(bench.usdc), bid)).toEqual({ refusal: 'the transaction would revert' })
})

test('a payment in a block that comes behind its deadline pays nothing', async () => {
  const [now, recipient] = [await bench.nowSeconds(), bench.account()]
  const { raw } = await paying.sign(await planned(termsOf(recipient, { deadlineSeconds: now + 20 })), bid)
  await bench.evm.node('evm_increaseTime', [30])
  await bench.evm.mine(1)
  await bench.land(raw)
  expect(await bench.held(recipient)).toBe(0n)
})
