// Authentication, Events, Errors, Limits and Versioning.
import { describe, expect, test } from 'vitest'
import { post, send } from '../../../apps/quote-api/test/serviceSupport/callService.ts'
import { operationOf, readDescription } from '../support/interfaceDescription.ts'
import {
  balanceOf,
  bodyOf,
  heldOf,
  linkWallet,
  newKey,
  newSponsor,
  newWallet,
  ofNewUser,
  price,
  quote,
  refusalOf,
  type Sponsor,
  type Wish,
} from '../support/quoteRequests.ts'
import type { QuoteWorld } from '../support/quoteWorld.ts'
import { fromSolana, quoteSolana, toSolana } from '../support/solanaRequests.ts'
import { failureOf } from './resources.ts'

export function describeAuthentication(at: () => QuoteWorld, sponsor: () => Sponsor): void {
  test('Q-auth-01: POST /price declares no security scheme, and can answer 401', async () => {
    const description = await readDescription(at().urls.publicUrl)
    const { security, responses } = operationOf(description, 'POST', '/price')
    expect([security, Object.keys(responses)]).toEqual([[], expect.arrayContaining(['401'])])
    expect((await price(at())).details.operation).toBe('bridge')
    const refusal = await refusalOf(at(), '/price', bodyOf(at()), { 'x-api-key': 'nobody has it' })
    expect(refusal.status).toBe(401)
  })

  test('Q-auth-02: the key ties a sponsored request to the balance of its wallet', async () => {
    const other = await newSponsor(at(), 5_000_000n)
    const before = await balanceOf(at(), sponsor().wallet.address)
    const { fees } = await quote(at(), { more: { subsidizeFees: true } }, other.headers)
    expect(await balanceOf(at(), other.wallet.address)).toBe(5_000_000n - BigInt(fees.subsidized.amount))
    expect(await balanceOf(at(), sponsor().wallet.address)).toBe(before)
  })

  test('Q-auth-03: a wallet is linked by signing a message, and spends no gas', async () => {
    const { headers } = await newKey(at())
    const wallet = newWallet()
    expect(await linkWallet(at(), headers, { wallet, signer: newWallet() })).toBe(400)
    const body = bodyOf(at(), ofNewUser({ more: { subsidizeFees: true } }))
    expect((await refusalOf(at(), '/quote', body, headers)).status).toBe(403)
    expect(await linkWallet(at(), headers, { wallet })).toBe(200)
    const { feeSponsorship } = await quote(at(), { more: { subsidizeFees: true } }, headers)
    expect(feeSponsorship?.reason).toBe('INSUFFICIENT_BALANCE')
    for (const { chain } of [at().network.chains.base, at().network.chains.optimism])
      expect(await chain.client.getTransactionCount({ address: wallet.address })).toBe(0)
  })

  test('Q-auth-03: keys are made by the provider, and by nobody else', async () => {
    const { headers } = await newKey(at())
    expect(headers['x-api-key']).toMatch(/^causeway_test_/)
    const made = await post(`${at().urls.publicUrl}/admin/keys`, { label: 'mine' })
    expect(made.status).toBe(404)
  })
}

export function describeEvents(at: () => QuoteWorld): void {
  test('Q-events-01: no notification, webhook or kind of event is described', async () => {
    const { text } = await send(`${at().urls.publicUrl}/documentation/json`)
    const description = JSON.parse(text)
    expect(description).not.toHaveProperty('webhooks')
    expect(text).not.toContain('"callbacks"')
  })
}

export function describeStates(at: () => QuoteWorld): void {
  test('Q-states-01: no state of a price, a quote or a balance is named', async () => {
    expect(JSON.stringify(await price(at()))).not.toMatch(/"(status|state|stage)":/)
  })
}

export function describeErrors(at: () => QuoteWorld, sponsor: () => Sponsor): void {
  test('Q-errors-01: POST /price answers 400, 401 or 500 with the error body', async () => {
    const body = bodyOf(at())
    const refusals = [
      await refusalOf(at(), '/price', { ...body, amount: '0' }),
      await refusalOf(at(), '/price', body, { 'x-api-key': 'nobody has it' }),
      await failureOf(at()),
    ]
    expect(refusals.map(({ status, errorData }) => [status, typeof errorData])).toEqual([
      [400, 'string'],
      [401, 'undefined'],
      [500, 'undefined'],
    ])
  })

  /** A quote, and what it took from the sponsor's balance. */
  async function taken(body: object) {
    const { address } = sponsor().wallet
    const before = await heldOf(at(), address)
    const asked = await quoteSolana(at(), body, sponsor())
    return { ...asked, held: (await heldOf(at(), address)) - before }
  }
  const usd = (change: object) => bodyOf(at(), ofNewUser({ more: change }))
  const ether: Wish = { pay: 'native', amount: 10n ** 17n }
  const byAddress = (more: object) =>
    bodyOf(at(), ofNewUser({ ...ether, more: { subsidizeFees: true, useDepositAddress: true, ...more } }))

  describe('sponsorship outcomes', () => {
    test('Q-errors-02: subsidizeRent without subsidizeFees: the rent is not sponsored', async () => {
      const { subsidized, held, rent, reason } = await taken(toSolana(at(), { subsidizeRent: true }))
      expect([subsidized, held, rent.sponsored, rent.userPays]).toEqual([0n, 0n, 0n, rent.total])
      expect([rent.total > 0n, reason]).toEqual([true, 'RENT_NOT_SUBSIDIZED'])
    })

    test('Q-errors-03: subsidizeFees without subsidizeRent: who needs an account pays all fees', async () => {
      const { quote: asked, subsidized, held, rent } = await taken(toSolana(at(), { subsidizeFees: true }))
      expect([subsidized, held, rent.sponsored, rent.userPays]).toEqual([0n, 0n, 0n, rent.total])
      const { fees, details } = asked
      expect(BigInt(details.currencyOut.amount)).toBe(50_000_000n - BigInt(fees.relayer.amount))
    })

    test('Q-errors-03: where the account is there the sponsor pays', async () => {
      const recipient = at().bed.recipient.toBase58()
      const {
        quote: asked,
        subsidized,
        held,
      } = await taken(toSolana(at(), { recipient, subsidizeFees: true }))
      expect([subsidized, held]).toEqual([BigInt(asked.fees.relayer.amount), subsidized])
    })

    test.each(['1', '10000'])(
      'Q-errors-04: of fees above the cap of %s the sponsor pays the cap, the user the rest',
      async (cap) => {
        const {
          quote: asked,
          subsidized,
          held,
        } = await taken(usd({ subsidizeFees: true, maxSubsidizationAmount: cap }))
        expect([subsidized, held]).toEqual([BigInt(cap), BigInt(cap)])
        const { fees, details } = asked
        const rest = BigInt(fees.relayer.amount) - BigInt(cap)
        expect(BigInt(details.currencyOut.amount)).toBe(100_000_000n - rest)
      },
    )

    test('Q-errors-04: a cap above the fees changes nothing', async () => {
      const { quote: asked, subsidized } = await taken(
        usd({ subsidizeFees: true, maxSubsidizationAmount: '5000000' }),
      )
      expect(subsidized).toBe(BigInt(asked.fees.relayer.amount))
    })

    test('Q-errors-05: a deposit address knows no components: they change nothing', async () => {
      const [all, some] = [
        await taken(byAddress({})),
        await taken(byAddress({ sponsoredFeeComponents: ['gas'] })),
      ]
      expect([all.subsidized, some.subsidized]).toEqual([
        BigInt(all.quote.fees.relayer.amount),
        BigInt(some.quote.fees.relayer.amount),
      ])
    })

    test('Q-errors-05: with a deposit address and a cap below the fees the user pays all of them', async () => {
      const capped = await taken(byAddress({ maxSubsidizationAmount: '1' }))
      expect([capped.subsidized, capped.held]).toEqual([0n, 0n])
      const { fees, details } = capped.quote
      expect(BigInt(details.currencyOut.amount)).toBe(10n ** 17n - BigInt(fees.relayer.amount))
      const enough = await taken(byAddress({ maxSubsidizationAmount: '5000000' }))
      expect(enough.subsidized).toBe(BigInt(enough.quote.fees.relayer.amount))
    })

    test('Q-errors-06: depositFeePayer equal to user is not allowed', async () => {
      const depositFeePayer = at().bed.user.publicKey.toBase58()
      const refusal = await refusalOf(at(), '/quote', fromSolana(at(), { depositFeePayer }))
      expect(refusal).toMatchObject({ status: 400, errorCode: 'INVALID_ADDRESS' })
      expect(refusal.message).toContain('depositFeePayer')
    })
  })
}

export function describeVersioning(at: () => QuoteWorld): void {
  const described = () => readDescription(at().urls.publicUrl)

  test('Q-version-01: the description carries version 1.0.0', async () => {
    expect((await described()).info.version).toBe('1.0.0')
  })

  test('Q-version-02: it names both servers', async () => {
    expect((await described()).servers).toEqual([
      { url: 'https://api.example', description: 'Mainnet' },
      { url: 'https://api.testnets.example', description: 'Testnet' },
    ])
  })

  test('Q-version-03: /price is deprecated in favour of /quote', async () => {
    const description = await described()
    expect(operationOf(description, 'POST', '/price').deprecated).toBe(true)
    expect(operationOf(description, 'POST', '/quote').deprecated ?? false).toBe(false)
    const { headers } = await post(`${at().urls.publicUrl}/price`, bodyOf(at()))
    expect(headers.get('link')).toBe('</quote>; rel="successor-version"')
  })
}
