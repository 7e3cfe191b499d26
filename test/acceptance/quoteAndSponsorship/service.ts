import { describe, expect, test } from 'vitest'
import { post, send } from '../../../apps/quote-api/test/serviceSupport/callService.ts'
import {
  balanceOf,
  bodyOf,
  heldOf,
  newKey,
  newSponsor,
  newUser,
  ofNewUser,
  ofOneMarket,
  price,
  quote,
  refusalOf,
  type Sponsor,
  type Wish,
} from '../support/quoteRequests.ts'
import type { QuoteWorld } from '../support/quoteWorld.ts'

export function describeService(at: () => QuoteWorld, sponsor: () => Sponsor): void {
  const inBase = { from: 'base', to: 'base' } as const
  test.each<[string, Wish]>([
    ['send', { ...inBase, more: { recipient: `0x${'4d'.repeat(20)}` } }],
    ['swap', { receive: 'native' }],
    ['swap', { ...inBase, receive: 'USDX' }],
    ['wrap', { ...inBase, pay: 'native', receive: 'wrapped' }],
    ['unwrap', { ...inBase, pay: 'wrapped', receive: 'native' }],
    ['bridge', {}],
    ['bridge', { pay: 'native', amount: 10n ** 18n }],
  ])('Q-service-01: a quote moves value from chain to chain: it is a %s of %o', async (operation, wish) => {
    const request = ofNewUser(wish)
    const asked = Object(bodyOf(at(), request))
    const { currencyIn, currencyOut, ...details } = (await quote(at(), request)).details
    expect(details).toMatchObject({ operation, sender: asked.user, recipient: asked.recipient })
    expect([currencyIn.currency, currencyOut.currency]).toMatchObject([
      { chainId: asked.originChainId, address: asked.originCurrency },
      { chainId: asked.destinationChainId, address: asked.destinationCurrency },
    ])
  })

  test('Q-service-02: POST /price has no calldata and no steps, and leaves nothing behind', async () => {
    const headers = await newKey(at())
    const wish = ofNewUser()
    const priced = await price(at(), wish)
    expect(Object.keys(priced)).toEqual(['fees', 'details'])
    expect(JSON.stringify(priced)).not.toMatch(/"(steps|data|requestId|calldata)"/)
    await post(`${at().urls.publicUrl}/price`, bodyOf(at(), wish), headers.headers)
    const listed = await send(`${at().urls.publicUrl}/requests/v3`, { headers: headers.headers })
    expect(JSON.parse(listed.text)).toMatchObject({ requests: [] })
  })

  test('Q-service-02: POST /price says that it is deprecated and what replaces it', async () => {
    const { headers } = await post(`${at().urls.publicUrl}/price`, bodyOf(at()))
    expect(headers.get('deprecation')).toMatch(/^@[0-9]+$/)
    expect(headers.get('link')).toBe('</quote>; rel="successor-version"')
  })

  test('Q-service-02: POST /quote bridges, swaps and calls, and prices what POST /price does', async () => {
    const call = { to: newUser(), value: '0', data: '0x' }
    const wishes: Wish[] = [{}, { receive: 'native' }, { more: { txs: [call], txsGasLimit: 50_000 } }]
    for (const wish of wishes.map(ofNewUser)) {
      const [priced, quoted] = await ofOneMarket(
        () => price(at(), wish),
        () => quote(at(), wish),
      )
      expect(quoted).toMatchObject(priced)
      expect(quoted.steps.length).toBeGreaterThan(0)
      for (const { items } of quoted.steps)
        for (const { data } of items)
          expect(data).toMatchObject({ data: expect.stringMatching(/^0x[0-9a-f]{8}/) })
    }
  })

  test('Q-service-03: the sponsor pays the fees of its users from its balance', async () => {
    const { headers, wallet } = sponsor()
    const [balance, held] = [await balanceOf(at(), wallet.address), await heldOf(at(), wallet.address)]
    const { fees, details } = await quote(at(), ofNewUser({ more: { subsidizeFees: true } }), headers)
    const subsidized = BigInt(fees.subsidized.amount)
    expect(subsidized).toBe(BigInt(fees.relayer.amount))
    expect(details.currencyOut.amount).toBe('100000000')
    expect(await balanceOf(at(), wallet.address)).toBe(balance - subsidized)
    expect(await heldOf(at(), wallet.address)).toBe(held + subsidized)
  })

  test('Q-service-04: all destination fees are covered, a gas top-up too, and no gas of the origin', async () => {
    const { headers } = sponsor()
    const asked = (more: object) =>
      quote(at(), ofNewUser({ more: { subsidizeFees: true, ...more } }), headers)
    const [plain, topped] = await ofOneMarket(
      () => asked({}),
      () => asked({ topupGas: true, topupGasAmount: '1500000' }),
    )
    for (const { fees } of [plain, topped]) {
      expect(fees.subsidized.amount).toBe(fees.relayer.amount)
      expect(BigInt(fees.gas.amount)).toBeGreaterThan(0n)
    }
    const toppedUp = BigInt(topped.fees.relayerGas.amount) - BigInt(plain.fees.relayerGas.amount)
    expect(toppedUp).toBeGreaterThanOrEqual(1_500_000n)
    expect(BigInt(topped.fees.subsidized.amount) - BigInt(plain.fees.subsidized.amount)).toBe(toppedUp)
  })

  describe('Q-service-05: sponsorship needs', () => {
    const sponsored = () => bodyOf(at(), ofNewUser({ more: { subsidizeFees: true } }))

    test('Q-service-05: an API key', async () => {
      expect(await refusalOf(at(), '/quote', sponsored())).toMatchObject({ status: 401 })
    })
    test('Q-service-05: a wallet linked to the key', async () => {
      const { headers } = await newKey(at())
      expect(await refusalOf(at(), '/quote', sponsored(), headers)).toMatchObject({ status: 403 })
    })
    test('Q-service-05: a balance that is large enough', async () => {
      const poor = await newSponsor(at(), 10_000n)
      const { fees, feeSponsorship } = await quote(
        at(),
        ofNewUser({ more: { subsidizeFees: true } }),
        poor.headers,
      )
      expect([fees.subsidized.amount, feeSponsorship?.reason]).toEqual(['0', 'INSUFFICIENT_BALANCE'])
      expect(await balanceOf(at(), poor.wallet.address)).toBe(10_000n)
    })
  })
}
