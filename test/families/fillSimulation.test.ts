// Goal: calls are tried as their solver would run them, though he holds nothing yet, and a failure is told in terms of
// the order. Method: fills of the real contract on a real node.

import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import { createCallSimulator, createFillSimulator } from '@causeway/families'
import { encodeTransfer } from '@causeway/families/rules'
import { randomWord, testCalls, testFill, tokenAbi } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { encodeFunctionData } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type ChainBed, startChainBed } from './ethereumSupport/chainBed.ts'

type Call = { readonly to: Hex; readonly data: Hex; readonly value: bigint }

let bed: ChainBed
let solver: Hex
let usdc: Hex
const fresh = () => privateKeyToAddress(randomWord())
const endless: Hex = `0x${'99'.repeat(20)}`

beforeAll(async () => {
  bed = await startChainBed()
  solver = bed.network.keys.fillWallet.address
  usdc = bed.deployment.tokens.USDC
  // Loops for ever.
  await bed.node('anvil_setCode', [endless, '0x5b600056'])
})
afterAll(() => bed?.stop())

function simulator() {
  const client = createJsonRpcClient({ chainId: 'base', endpoints: [{ url: bed.url }] })
  onTestFinished(() => client.close())
  const calls = createCallSimulator({ client, now: Date.now, timeoutMs: 30_000 })
  return createFillSimulator({ client, simulator: calls, timeoutMs: 30_000 })
}

const approve = (spender: Hex, amount: bigint): Call => ({
  to: usdc,
  value: 0n,
  data: encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [spender, amount] }),
})
const transfer = (to: Hex, amount: bigint): Call => ({
  to: usdc,
  value: 0n,
  data: encodeTransfer(to, amount),
})

function fillOf(calls: readonly Call[], { from = solver, token = usdc, amount = 100n } = {}) {
  const { fillContract } = bed.deployment
  const place = { fillContract, filler: from, recipient: fresh(), sweptTokens: [token] }
  const { orderCalls, clone } = testCalls(calls, place)
  const data = testFill({ orderId: randomWord(), tokens: [{ token, to: clone, amount }], orderCalls })
  return { from, to: fillContract, data, value: 0n, token, hasCalls: true }
}

describe('a fill', () => {
  test('is measured as it would be used', async () => {
    const fill = fillOf([approve(fresh(), 60n), transfer(fresh(), 60n)])
    const units = await simulator().gasOfFill(fill)
    const { transactionId } = await bed.send(bed.network.keys.fillWallet, fill.to, fill.data)
    const { gasUsed } = await bed.chain.client.getTransactionReceipt({ hash: transactionId })
    expect(units).toBe(gasUsed)
  })

  test('of a solver who holds nothing, and has allowed nothing, is measured as if he did', async () => {
    const calls = [approve(fresh(), 60n), transfer(fresh(), 60n)]
    const rich = await simulator().gasOfFill(fillOf(calls))
    const fills = simulator()
    const poor = await fills.gasOfFill(fillOf(calls, { from: fresh() }))
    // An allowance and a balance that are spent whole give some gas back, and theirs are not.
    expect(poor > rich - 10_000n && poor < rich + 10_000n).toBe(true)
    const spending = fills.gasOfFill(fillOf([transfer(fresh(), 101n)], { from: fresh() }))
    await expect(spending).rejects.toMatchObject({ code: 'DESTINATION_TX_FAILED', data: { index: 0 } })
  })

  test('of a token whose storage nobody finds is nobody’s fault', async () => {
    const failing = simulator().gasOfFill(fillOf([], { token: bed.deployment.depository }))
    await expect(failing).rejects.toBeInstanceOf(UpstreamUnavailableError)
  })

  test('names the call that fails by its place, and why', async () => {
    const failing = simulator().gasOfFill(
      fillOf([approve(fresh(), 1n), { to: usdc, data: '0xdeadbeef', value: 0n }]),
    )
    await expect(failing).rejects.toMatchObject({
      code: 'DESTINATION_TX_FAILED',
      kind: 'invalid_request',
      data: { chainId: 'base', index: 1, reason: 'it reverts' },
    })
    const poor = simulator().gasOfFill(fillOf([transfer(fresh(), 101n)]))
    await expect(poor).rejects.toMatchObject({
      data: { index: 0, reason: expect.stringMatching(/^it reverts with 0x/) },
    })
  })

  test('whose call never ends needs more gas than there is', async () => {
    const failing = simulator().gasOfFill(fillOf([{ to: endless, data: '0x', value: 0n }]))
    await expect(failing).rejects.toMatchObject({ data: { reason: 'more than 10000000 gas is needed' } })
  })
})
