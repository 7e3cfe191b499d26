// Goal: an integrator tops up by a transfer and sees it arrive, through a real reorganization too; money without
// a label is credited to whom its sender names. Method: the whole service over real nodes, by HTTP.

import type { Hex } from '@causeway/core'
import { encodeTopUp } from '@causeway/families/rules'
import { type LocalAccount, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { balancesResponseSchema } from '../src/http/wire/balances.ts'
import { chainsResponseSchema } from '../src/http/wire/chainsResponse.ts'
import { startTestService, type TestService } from './fixtures/service.ts'
import { post, readError, readOk, send } from './serviceSupport/callService.ts'
import { userOf } from './serviceSupport/localRequest.ts'

const patience = { timeout: 60_000, interval: 50 }
let network: TestNetwork
let service: TestService
let urls: { publicUrl: string; opsUrl: string; adminUrl: string }

beforeAll(async () => {
  network = await startTestNetwork()
  service = await startTestService(network, { CUSTODY_ADDRESS: network.keys.custody.address })
  urls = await service.listen()
})
afterAll(async () => {
  await service?.stop()
  await network?.stop()
})

const usdc = () => network.deployment.base.tokens.USDC
const custody = () => network.keys.custody.address

async function balanceOf(wallet: string) {
  return readOk(await send(`${urls.publicUrl}/app-fees/${wallet}/balances`), balancesResponseSchema)
}

const shown = async (wallet: string) => {
  const { amount, pending } = await balanceOf(wallet)
  return { amount, pending: pending.amount }
}

async function pay(from: LocalAccount, data: Hex): Promise<void> {
  await network.chains.base.chain.send(from, [{ what: 'top-up', to: usdc(), data }])
}

const topUp = (owner: string, amountMicroUsd: bigint) =>
  encodeTopUp({ token: usdc(), custody: custody(), amountMicroUsd, owner }).data

describe('a top-up', () => {
  test('Q-233: is shown as pending, counts once when it is final, and a reorganization changes neither', async () => {
    const wallet = `0x${'a1'.repeat(20)}`
    const sender = userOf(network, 0)
    const { node } = network.chains.base.chain
    const snapshot = await node.snapshot()
    await pay(sender, topUp(wallet, 5_000_000n))
    await expect.poll(() => shown(wallet), patience).toEqual({ amount: '0', pending: '5000000' })

    await node.revert({ id: snapshot })
    await node.mine({ blocks: 1 })
    await expect.poll(() => shown(wallet), patience).toEqual({ amount: '0', pending: '0' })

    // Same nonce and calldata, so this is the same transaction in a later block.
    await pay(sender, topUp(wallet, 5_000_000n))
    await expect.poll(() => shown(wallet), patience).toEqual({ amount: '0', pending: '5000000' })
    await network.mine('base', 3)
    await expect.poll(() => shown(wallet), patience).toEqual({ amount: '5000000', pending: '0' })
    await network.mine('base', 3)
    const count = (outcome: string, times: number) =>
      expect
        .poll(async () => (await send(`${urls.opsUrl}/metrics`)).text, patience)
        .toContain(`top_ups_total{outcome="${outcome}",service="quote-api"} ${times}\n`)
    await count('credited', 1)
    await count('orphaned', 1)
  })

  test('goes where GET /chains says, and is credited', async () => {
    const { chains } = await readOk(await send(`${urls.publicUrl}/chains`), chainsResponseSchema)
    const published = chains.flatMap(({ id, topUp: place }) =>
      place === undefined ? [] : [{ id, ...place }],
    )
    expect(published).toEqual([{ id: 8_453, address: custody().toLowerCase(), currency: usdc() }])
    const [{ address, currency } = { address: '', currency: '' }] = published
    const wallet = `0x${'a4'.repeat(20)}`
    // CAST: compared with the network's own just now.
    const [token, to] = [currency as Hex, address as Hex]
    await pay(
      userOf(network, 0),
      encodeTopUp({ token, custody: to, amountMicroUsd: 3_000_000n, owner: wallet }).data,
    )
    await network.mine('base', 3)
    await expect.poll(() => shown(wallet), patience).toMatchObject({ amount: '3000000' })
  })

  test('reads as the record of the interface, with the members of the public client', async () => {
    const wallet = `0x${'a2'.repeat(20)}`
    await pay(userOf(network, 0), topUp(wallet, 12_345_678n))
    await network.mine('base', 3)
    await expect.poll(() => shown(wallet), patience).toMatchObject({ amount: '12345678' })
    const record = {
      currency: { chainId: 8_453, address: usdc(), symbol: 'USDC', name: 'USD Coin', decimals: 6 },
      amount: '12345678',
      amountFormatted: '12.345678',
      amountUsd: '12.345678',
      minimumAmount: '12345678',
    }
    expect(await balanceOf(wallet)).toMatchObject({
      ...record,
      balances: [record],
      totalBalanceUsd: 12.345678,
      availableBalanceUsd: 12.345678,
      outstandingFastFillBalanceUsd: 0,
    })
  })

  test('is led by this process, as its metrics say', async () => {
    const metrics = async () => (await send(`${urls.opsUrl}/metrics`)).text
    // Nothing differs between the chain and the ledger.
    await expect.poll(metrics, patience).toContain('top_up_explained_ratio{service="quote-api"} 1\n')
    await expect.poll(metrics, patience).toContain('ledger_findings{service="quote-api"} 0\n')
    const text = await metrics()
    for (const job of ['top-up-watcher', 'reconciler', 'sweeper', 'invariants']) {
      expect(text).toMatch(new RegExp(`job_leading\\{name="${job}",service="quote-api"\\} 1\n`))
    }
    expect(text).toMatch(/top_up_halted\{service="quote-api"\} 0\n/)
  })
})

describe('a transfer without a label', () => {
  const wallet = `0x${'a3'.repeat(20)}`
  const challengeSchema = z.object({ message: z.string(), expiresAt: z.string() })

  async function hashOfPlainTransfer(sender: LocalAccount, amount: bigint): Promise<Hex> {
    const { client } = network.chains.base.chain
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [custody(), amount] })
    await pay(sender, data)
    const { transactions } = await client.getBlock({ blockTag: 'latest' })
    const [hash] = transactions
    if (hash === undefined) throw new Error('the transfer is not in the latest block')
    return hash
  }

  test('is listed and credited by an operator through the admin listener, and chain and books agree', async () => {
    const transactionHash = await hashOfPlainTransfer(userOf(network, 3), 4_000_000n)
    const admin = `${urls.adminUrl}/admin`
    const entriesSchema = z.object({ entries: z.array(z.looseObject({ id: z.string() })) })
    const entry = async () => {
      const { entries } = readOk(await send(`${admin}/suspense`), entriesSchema)
      return entries.find((one) => one['transactionHash'] === transactionHash)
    }
    await network.mine('base', 3)
    await expect.poll(entry, patience).toMatchObject({ amountMicroUsd: '4000000' })
    const owner = `0x${'a7'.repeat(20)}`
    const credit = (body: object) => entry().then((one) => post(`${admin}/suspense/${one?.id}/credit`, body))
    expect((await credit({ wallet: owner })).status).toBe(400)
    const { id } = (await entry()) ?? {}
    const done = { wallet: owner, reason: 'ticket 1' }
    expect((await post(`${admin}/suspense/${id}/credit`, done)).status).toBe(200)
    const again = await post(`${admin}/suspense/${id}/credit`, done)
    expect([again.status, readError(again).errorCode]).toEqual([409, 'CLAIM_ALREADY_SETTLED'])
    expect(await shown(owner)).toEqual({ amount: '4000000', pending: '0' })
    const reconciled = await send(`${admin}/ledger/reconcile`)
    expect(JSON.parse(reconciled.text)).toMatchObject({ differences: [] })
    const halfRange = await send(`${admin}/ledger/reconcile?from=1e3`)
    expect(halfRange.status).toBe(400)
  })

  test('Q-232: is credited once to the wallet that its sender names by signature, and to nobody else', async () => {
    const sender = userOf(network, 1)
    const transfer = { transactionHash: await hashOfPlainTransfer(sender, 9_000_000n), wallet }
    const challengeUrl = `${urls.publicUrl}/app-balance/claims/challenge`
    await expect
      .poll(async () => readError(await post(challengeUrl, transfer)).errorCode, patience)
      .toBe('CLAIM_NOT_FINAL')
    await network.mine('base', 3)
    await expect.poll(async () => (await post(challengeUrl, transfer)).status, patience).toBe(200)

    const { message } = readOk(await post(challengeUrl, transfer), challengeSchema)
    const sign = (account: LocalAccount, text = message) =>
      privateKeyToAccount(account.privateKey).signMessage({ message: text })
    const claim = (parts: object) =>
      post(`${urls.publicUrl}/app-balance/claims`, { ...transfer, message, ...parts })
    const signature = await sign(sender)
    const old = message.replace(/Issued At: \d{4}/, 'Issued At: 2001')
    for (const parts of [
      { signature: await sign(userOf(network, 2)) },
      { signature, wallet: `0x${'a4'.repeat(20)}` },
      { signature, message: `${message} ` },
      { signature: await sign(sender, old), message: old },
      { signature: await sign(sender, 'hello'), message: 'hello' },
    ]) {
      const refused = await claim(parts)
      expect([refused.status, readError(refused).errorCode]).toEqual([400, 'INVALID_SIGNATURE'])
    }
    expect(await shown(wallet)).toEqual({ amount: '0', pending: '0' })

    const answers = await Promise.all([claim({ signature }), claim({ signature })])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(readError(await claim({ signature })).errorCode).toBe('CLAIM_ALREADY_SETTLED')
    expect(await shown(wallet)).toEqual({ amount: '9000000', pending: '0' })
  })

  test('that nobody sent cannot be claimed', async () => {
    const unknown = { transactionHash: `0x${'77'.repeat(32)}`, wallet }
    const answer = await post(`${urls.publicUrl}/app-balance/claims/challenge`, unknown)
    expect([answer.status, readError(answer).errorCode]).toEqual([404, 'CLAIM_NOT_FOUND'])
  })
})

describe('a transfer to the published account of the solver', () => {
  const solver = () => network.keys.fillWallet.address
  const tagged = (owner: string, amountMicroUsd: bigint) =>
    encodeTopUp({ token: usdc(), custody: solver(), amountMicroUsd, owner }).data
  const marker = '012345abcdef'
  const plain = (to: Hex, amount: bigint) =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] })

  test('that names a sponsor is credited once, through a reorganization too', async () => {
    const wallet = `0x${'b1'.repeat(20)}`
    const { node } = network.chains.base.chain
    const snapshot = await node.snapshot()
    await pay(userOf(network, 4), tagged(wallet, 7_000_000n))
    await expect.poll(() => shown(wallet), patience).toEqual({ amount: '0', pending: '7000000' })
    await node.revert({ id: snapshot })
    await node.mine({ blocks: 1 })
    await expect.poll(() => shown(wallet), patience).toEqual({ amount: '0', pending: '0' })
    await pay(userOf(network, 4), tagged(wallet, 7_000_000n))
    await network.mine('base', 3)
    await expect.poll(() => shown(wallet), patience).toEqual({ amount: '7000000', pending: '0' })
  })

  test('L-56: that names one by half is held, and claimed by whoever sent it', async () => {
    const wallet = `0x${'b2'.repeat(20)}`
    const sender = userOf(network, 4)
    await pay(sender, `${plain(solver(), 6_000_000n)}${marker}${wallet.slice(2)}`)
    const { transactions } = await network.chains.base.chain.client.getBlock({ blockTag: 'latest' })
    const transfer = { transactionHash: transactions[0], wallet }
    await network.mine('base', 3)
    const challengeUrl = `${urls.publicUrl}/app-balance/claims/challenge`
    await expect.poll(async () => (await post(challengeUrl, transfer)).status, patience).toBe(200)
    const { message } = readOk(await post(challengeUrl, transfer), z.object({ message: z.string() }))
    const sign = (account: LocalAccount) => privateKeyToAccount(account.privateKey).signMessage({ message })
    const claim = async (account: LocalAccount) =>
      (
        await post(`${urls.publicUrl}/app-balance/claims`, {
          ...transfer,
          message,
          signature: await sign(account),
        })
      ).status
    expect([await claim(userOf(network, 2)), await claim(sender), await claim(sender)]).toEqual([
      400, 200, 409,
    ])
    expect(await shown(wallet)).toEqual({ amount: '6000000', pending: '0' })
  })

  test("that names nobody, and what the solver moves to custody, is nobody's", async () => {
    const suspense = async () => (await send(`${urls.adminUrl}/admin/suspense`)).text
    const before = await suspense()
    await pay(userOf(network, 4), plain(solver(), 5_000_000n))
    await pay(network.keys.fillWallet, plain(custody(), 5_000_000n))
    // A top-up behind both: when it is credited, they were read.
    const wallet = `0x${'b3'.repeat(20)}`
    await pay(userOf(network, 4), tagged(wallet, 1_000_000n))
    await pay(userOf(network, 4), topUp(wallet, 2_000_000n))
    await network.mine('base', 3)
    await expect.poll(() => shown(wallet), patience).toEqual({ amount: '3000000', pending: '0' })
    expect(await suspense()).toBe(before)
    const reconciled = await send(`${urls.adminUrl}/admin/ledger/reconcile`)
    expect(JSON.parse(reconciled.text)).toMatchObject({ differences: [] })
  })
})
