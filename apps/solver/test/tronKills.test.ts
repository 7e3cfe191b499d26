// Goal: on Tron, whose transactions expire and whose fill contract remembers what was paid, a payment is made once, wherever
// its process is killed, whatever its database forgets, and however often it is signed; and a token can be paid before
// anybody allowed it. Who gains by breaking it: a user who is paid twice; a user whose payment is taken for made; whoever
// makes a wallet allow, or burn, again and again. Method: the desk on a Tron of stand-ins with real PostgreSQL.
import { tronHexAddress } from '@causeway/core/encodings'
import { encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createAllowances } from '../src/wallet/inventory.ts'
import { begin, describeKills } from './support/expiringKills.ts'
import { startTronBench, type TronBench, tronChainId, tronFees } from './support/tronBench.ts'

let bench: TronBench

beforeAll(async () => {
  bench = await startTronBench()
})
afterAll(() => bench?.stop())
afterEach(() => bench.facade.set({ kind: 'none' }))

describeKills(() => bench)

describe('a token', () => {
  const amount = 3_000_000n

  test('is allowed by one chore, however often it is asked for, and paid then', async () => {
    const { evm, usdc, wallet } = bench
    const [rich] = evm.network.keys.users
    if (rich === undefined) throw new Error('no user')
    const args = [tronHexAddress(wallet), 10n * amount] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
    await evm.send(rich, evm.deployment.tokens.USDC, data)

    const { desk, paying, records } = await bench.process(await bench.database())
    const open = () => records.active(wallet, tronChainId, Number.MAX_SAFE_INTEGER)
    const isAllowed = createAllowances({ desk, paying, open })
    for (let turn = 0; turn < 3; turn += 1) expect(await isAllowed(usdc, amount)).toBe(false)
    expect(await open()).toHaveLength(1)
    for (let turn = 0; turn < 3; turn += 1) {
      await desk.advance()
      await bench.settle()
    }
    expect(await open()).toEqual([])
    expect(await isAllowed(usdc, amount)).toBe(true)

    const [orderId, recipient] = [`0x${'70'.repeat(32)}`, bench.account()] as const
    const deadline = (await bench.nowSeconds()) + 3_600
    const payments = [{ recipient, currency: usdc, amount }]
    const order = { kind: 'fill' as const, orderId, chainId: tronChainId, deadline, payments, calls: [] }
    const record = await begin(
      { desk },
      {
        work: { kind: 'payment', id: orderId, order: { ...order, proof: undefined } },
        subject: { id: 'fill-of-token', kind: 'fill', orderId, deadline, payments },
      },
    )
    await desk.release(record, 'given')
    await bench.settle()
    await desk.advance()
    expect((await records.latest('fill-of-token'))?.outcome).toBe('done')
    const balanceOf = encodeFunctionData({
      ...{ abi: erc20Abi, functionName: 'balanceOf', args: [tronHexAddress(recipient)] },
    })
    const held = await evm.node('eth_call', [{ to: evm.deployment.tokens.USDC, data: balanceOf }, 'latest'])
    expect(BigInt(String(held))).toBe(amount)
  })
})

describe('what is signed', () => {
  const id = `0x${'e1'.repeat(32)}` as const
  const terms = (recipient: string) =>
    ({
      id,
      mark: 'paid',
      orderId: id,
      payments: [{ recipient, currency: bench.coin, amount: 1_000n }],
    }) as const

  test('is nothing while energy costs more than the operator bears', async () => {
    const dear = { fees: tronFees, ceiling: 99n }
    const paying = bench.open()
    expect(await paying.plan(terms(bench.account()), dear)).toEqual({
      refusal: 'energy costs more than maxFeePerGasWei',
    })
    await expect(paying.sign({ terms: terms(bench.account()), units: 1n }, dear)).rejects.toThrow(
      'maxFeePerGasWei',
    )
  })

  test('P-41: pays accounts with code, but no contract that takes no coin, nor the wallet itself', async () => {
    const paying = bench.open()
    const account = bench.account()
    await bench.evm.node('anvil_setCode', [tronHexAddress(account), '0x5f5fa000'])
    expect(await paying.plan(terms(account), bench.bid)).toHaveProperty('units')
    expect(await paying.plan(terms(bench.usdc), bench.bid)).toEqual({
      refusal: 'the transaction would revert',
    })
    expect(await paying.plan(terms(bench.wallet), bench.bid)).toEqual({
      refusal: 'the recipient is the fill wallet',
    })
  })

  test('in a block that comes behind its deadline pays nothing', async () => {
    const paying = bench.open()
    const [now, recipient] = [await bench.nowSeconds(), bench.account()]
    const due = { ...terms(recipient), deadlineSeconds: now + 20 }
    const plan = await paying.plan(due, bench.bid)
    if ('refusal' in plan) throw new Error(plan.refusal)
    const { raw } = await paying.sign(plan, bench.bid)
    await bench.evm.node('evm_increaseTime', [30])
    await bench.evm.mine(1)
    await bench.land(raw)
    expect(await bench.held(recipient)).toBe(0n)
  })
})
