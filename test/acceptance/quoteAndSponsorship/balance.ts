// The balance of a sponsorship wallet, the history of what it paid for, and how it is topped up on chain.

import type { Hex } from '@causeway/core'
import { encodeTransfer } from '@causeway/families/rules'
import { waitUntil } from '@causeway/localnet'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { readOk, send } from '../../../apps/quote-api/test/serviceSupport/callService.ts'
import { nativeAddress, userOf } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import type { FilledRequest } from '../support/filledRequest.ts'
import { operationOf, readDescription } from '../support/interfaceDescription.ts'
import { balanceOf, deposit, marker, newUser, recordOf, type Sponsor } from '../support/quoteRequests.ts'
import { errorShape, formatted } from '../support/quoteShapes.ts'
import type { QuoteWorld } from '../support/quoteWorld.ts'

export function describeBalances(at: () => QuoteWorld, filled: () => FilledRequest): void {
  test('Q-balance-01: it is the record of the wallet, in any case of its digits, without a key', async () => {
    const wallet = newUser()
    await deposit(at(), { amountMicroUsd: 7_654_321n, tail: `${marker}${wallet.slice(2)}${marker}` })
    await waitUntil('it counts', async () => (await balanceOf(at(), wallet)) === 7_654_321n)
    for (const written of [wallet, wallet.toLowerCase(), `0x${wallet.slice(2).toUpperCase()}`])
      expect(await recordOf(at(), written)).toMatchObject({
        currency: { chainId: 8_453, symbol: 'USDC', name: 'USD Coin', decimals: 6 },
        amount: '7654321',
        amountFormatted: '7.654321',
        amountUsd: '7.654321',
        minimumAmount: '7654321',
      })
  })

  test('Q-balance-01: a wallet that nobody knows has nothing', async () => {
    const nothing = { amount: '0', amountFormatted: '0.0', amountUsd: '0.000000', minimumAmount: '0' }
    expect(await recordOf(at(), newUser())).toMatchObject(nothing)
  })

  test('Q-balance-01: it takes no body, and no parameter but the wallet in its path', async () => {
    const description = await readDescription(at().urls.publicUrl)
    const [path = ''] = Object.keys(description.paths).filter((one) =>
      /^\/app-fees\/\{\w+\}\/balances$/.test(one),
    )
    const { parameters, requestBody } = operationOf(description, 'GET', path)
    expect([parameters, requestBody]).toMatchObject([[{ in: 'path', required: true }], undefined])
  })

  test.each(['0x12', `0x${'g'.repeat(40)}`, `0x${'1'.repeat(41)}`, 'me'])(
    'Q-balance-01: %s is no wallet',
    async (wallet) => {
      const { status, text } = await send(`${at().urls.publicUrl}/app-fees/${wallet}/balances`)
      expect(status).toBe(400)
      expect(errorShape.parse(JSON.parse(text)).message).toContain('wallet')
    },
  )

  test('Q-balance-01: entries of balances in one currency say what they are', async () => {
    const { balances } = await recordOf(at(), filled().app)
    expect(balances.length).toBeGreaterThan(1)
    const kinds = balances.map(
      ({ amount: _amount, amountFormatted: _text, amountUsd: _usd, minimumAmount: _least, ...kind }) =>
        JSON.stringify(kind),
    )
    expect(new Set(kinds).size).toBe(balances.length)
  })
}

const historyShape = z.object({
  requests: z.array(z.looseObject({ id: z.string(), status: z.string(), data: z.looseObject({}) })),
})
const eventsShape = z.object({
  events: z.array(
    z.looseObject({ delta: z.string(), context: z.string(), requestId: z.string().nullable() }),
  ),
})

export function describeHistory(
  at: () => QuoteWorld,
  sponsor: () => Sponsor,
  filled: () => FilledRequest,
): void {
  test('Q-balance-02: a sponsored request is listed with what it cost', async () => {
    const { quote, spent } = filled()
    const url = `${at().urls.publicUrl}/requests/v3?id=${quote.requestId}`
    const { requests } = readOk(await send(url, { headers: sponsor().headers }), historyShape)
    const { amount } = quote.fees.subsidized
    expect(spent).toBe(BigInt(amount))
    const sponsored = { amount, amountFormatted: formatted(amount, 6) }
    expect(requests).toMatchObject([
      {
        id: quote.requestId,
        status: 'success',
        data: {
          fees: { quoted: { sponsored, app: { amount: '1000000' } } },
          feeSponsorship: { status: 'full' },
        },
      },
    ])
  })

  test('Q-balance-02: a balance is explained event by event', async () => {
    const { quote, spent } = filled()
    const { wallet, headers } = sponsor()
    const url = `${at().urls.publicUrl}/balance-events/${wallet.address}?requestId=${quote.requestId}`
    const { events } = readOk(await send(url, { headers }), eventsShape)
    expect(events.map(({ context, delta }) => [context, delta])).toEqual([
      ['pay-fees', `-${spent}`],
      ['unset-pending-amount', `${spent}`],
      ['set-pending-amount', `-${spent}`],
    ])
  })
}

export function describeDeposit(at: () => QuoteWorld): void {
  const [named, one, solver, nobody, last] = [newUser(), newUser(), newUser(), newUser(), newUser()]
  const digits = (owner: string) => owner.slice(2).toLowerCase()
  const tail = (owner: string, prefix = marker, suffix = marker) => `${prefix}${digits(owner)}${suffix}`
  const sender = (index: number) => userOf(at().network, index)
  let calldata: Hex

  beforeAll(async () => {
    const { keys, deployment, chains, mine } = at().network
    const from = sender(1)
    calldata = await deposit(at(), { from, amountMicroUsd: 25_000_000n, tail: tail(named) })
    await deposit(at(), { from, amountMicroUsd: 1n, tail: tail(one) })
    await deposit(at(), { from, amountMicroUsd: 6_000_000n, tail: tail(solver), to: keys.fillWallet.address })
    await deposit(at(), { from: sender(3), amountMicroUsd: 4_000_000n, tail: tail(nativeAddress) })
    const wrong = [
      ...['', digits(nobody), `${marker}${digits(nobody)}`, `${digits(nobody)}${marker}`],
      ...[tail(nobody, '012345abcdee'), tail(nobody, marker, '112345abcdef'), `00${tail(nobody)}`],
    ]
    for (const other of wrong)
      await deposit(at(), { from: sender(2), amountMicroUsd: 5_000_000n, tail: other })
    const data: Hex = `${encodeTransfer(keys.custody.address, 5_000_000n)}${tail(nobody)}`
    const elsewhere = { what: 'deposit on another chain', to: deployment.optimism.tokens.USDC, data }
    await chains.optimism.chain.send(sender(2), [elsewhere])
    await mine('optimism', 3)
    // Everything before this one was read when it is credited.
    await deposit(at(), { from, amountMicroUsd: 3n, tail: tail(last) })
    await waitUntil('the last one counts', async () => (await balanceOf(at(), last)) === 3n)
  })

  test('Q-topup-01: it is a token transfer on Base to the address that the service publishes', async () => {
    const { chains } = readOk(
      await send(`${at().urls.publicUrl}/chains`),
      z.object({ chains: z.array(z.looseObject({ id: z.number(), topUp: z.looseObject({}).optional() })) }),
    )
    const { keys, deployment } = at().network
    const topUp = {
      address: keys.custody.address.toLowerCase(),
      currency: deployment.base.tokens.USDC.toLowerCase(),
    }
    expect(chains.filter((chain) => chain.topUp !== undefined)).toMatchObject([{ id: 8_453, topUp }])
    expect(await balanceOf(at(), named)).toBe(25_000_000n)
  })

  test('Q-topup-01: one to the account that fills is credited as well, and one unit is enough', async () => {
    expect([await balanceOf(at(), solver), await balanceOf(at(), one)]).toEqual([6_000_000n, 1n])
  })

  test('Q-topup-02: prefix, credited address and suffix stand behind the calldata of the transfer', async () => {
    const word = (text: string) => text.padStart(64, '0')
    const transfer = `0xa9059cbb${word(digits(at().network.keys.custody.address))}${word('17d7840')}`
    expect(calldata).toBe(`${transfer}012345abcdef${digits(named)}012345abcdef`)
    expect(await balanceOf(at(), named)).toBe(25_000_000n)
  })

  test('Q-topup-03: with another prefix or suffix, without one, or at another place nobody is credited', async () => {
    expect([await balanceOf(at(), nobody), await balanceOf(at(), sender(2).address)]).toEqual([0n, 0n])
  })

  test('Q-topup-04: the all-zero address credits the sender', async () => {
    expect([await balanceOf(at(), sender(3).address), await balanceOf(at(), nativeAddress)]).toEqual([
      4_000_000n,
      0n,
    ])
  })

  test('Q-topup-05: the named address is credited, and not the sender', async () => {
    expect([await balanceOf(at(), named), await balanceOf(at(), sender(1).address)]).toEqual([
      25_000_000n,
      0n,
    ])
  })
}
