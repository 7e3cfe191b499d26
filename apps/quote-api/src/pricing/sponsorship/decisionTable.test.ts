// Goal: who pays what, row by row of the sponsorship decision table. Rows that the routes serve today go
// through POST /quote; rows of Solana test the rule itself.
import { type FeeParts, type Hex, noFees, sponsorableFees } from '@causeway/core'
import { codecOf, mainNetwork } from '@causeway/core/encodings'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApp } from '../../../test/fixtures/app.ts'
import { appRecipient, chainA, chainB, native, recipient, usdc, user } from '../../../test/fixtures/market.ts'
import {
  linkedKey,
  sponsorWallet,
  testApiKeys,
  testSponsor,
  unlinkedKey,
} from '../../../test/fixtures/sponsor.ts'
import { lateReservation } from '../../requests/settlement/deposits/pinDecision.ts'
import { createOpenQuotes } from '../openQuotes/openQuotes.ts'
import { allocateSubsidy, sponsorshipStatus } from './allocateSubsidy.ts'
import { depositFeePayer } from './depositFeePayer.ts'
import { type SponsorshipRequest, type SponsorshipTerms, sponsorshipTerms } from './sponsorshipTerms.ts'

/** 100 USDC to ETH: execution 30000, relay 100000, app 500000, all in micro-USDC. */
const body = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: native,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
  slippageTolerance: '50',
  appFees: [{ recipient: appRecipient, fee: '50' }],
}
const fees = 130_000n
const fillWallet = `0x${'f1'.repeat(20)}`
const plainOut = '39748000000000000'
const fullOut = '39800000000000000'

/** One for all rows, because making one takes longer than most of them; each row has a sponsor of its own. */
let app: Awaited<ReturnType<typeof testApp>>
let sponsor = testSponsor(0n)
beforeAll(async () => {
  app = await testApp({
    config: { majorBps: 10 },
    fillWallet,
    apiKeys: testApiKeys,
    sponsors: { walletOf: (keyId) => sponsor.sponsors.walletOf(keyId) },
    storeSponsored: (...record) => sponsor.storeSponsored(...record),
    openQuotes: createOpenQuotes({ perUserBps: 0 }),
  })
})
afterAll(() => app.close())

async function ask(
  change: object,
  {
    key = linkedKey,
    balance = 10n ** 12n,
    url = '/quote',
  }: { key?: string; balance?: bigint; url?: string } = {},
) {
  sponsor = testSponsor(balance)
  const storedBefore = app.stored.length
  const headers = key === '' ? {} : { 'x-api-key': key }
  const response = await app.inject({ method: 'POST', url, payload: { ...body, ...change }, headers })
  const json = response.json()
  return {
    status: response.statusCode,
    code: json.errorCode,
    out: json.details?.currencyOut.amount,
    amountIn: json.details?.currencyIn.amount,
    subsidized: json.fees?.subsidized.amount,
    app: json.fees?.app.amount,
    relayer: json.fees?.relayer.amount,
    gas: json.fees?.gas.amount,
    steps: json.steps?.map(({ id }: { id: string }) => id),
    sponsorship: json.feeSponsorship,
    held: sponsor.holds.map(({ amountMicroUsd }) => amountMicroUsd),
    stored: sponsor.records.length + app.stored.length - storedBefore,
  }
}

const userPaid = { status: 200, out: plainOut, subsidized: '0', held: [], stored: 1 }
const sponsorPaid = { status: 200, out: fullOut, subsidized: '130000', held: [fees], stored: 1 }

const asked: SponsorshipRequest = {
  subsidizeFees: true,
  capMicroUsd: undefined,
  subsidizeRent: false,
  depositFeePayer: undefined,
  components: undefined,
}

/** The rules alone, for what is not executed yet. One unit of the fee currency is one micro-USDC. */
function share(
  change: Partial<SponsorshipRequest>,
  change2: Partial<FeeParts> = {},
  useDepositAddress = false,
) {
  const terms = sponsorshipTerms(
    { ...asked, ...change },
    { keyId: linkedKey, wallet: sponsorWallet },
    { useDepositAddress },
  )
  const parts = { ...noFees, gas: 10_000n, flat: 20_000n, skew: 40_000n, platform: 60_000n, ...change2 }
  const allocation = allocateSubsidy(requireTerms(terms), parts, { numerator: 1n, denominator: 1n })
  const { sponsored, total, capHit, reason } = allocation
  return { sponsored, total, capHit, reason, status: sponsorshipStatus(allocation, sponsorableFees(parts)) }
}

function requireTerms(terms: ReturnType<typeof sponsorshipTerms>): SponsorshipTerms {
  if ('reason' in terms) throw new Error(terms.reason)
  return terms
}

const rent = 300_000n
const nobody = { execution: 0n, swap: 0n, relay: 0n, rent: 0n }

describe('who asks', () => {
  test('row 1: without a key and without subsidizeFees the user pays everything', async () => {
    const answer = await ask({}, { key: '' })
    expect(answer).toMatchObject(userPaid)
    expect(answer.sponsorship).toBeUndefined()
  })

  test('row 2: subsidizeFees without a key is 401', async () => {
    expect(await ask({ subsidizeFees: true }, { key: '' })).toMatchObject({
      status: 401,
      code: 'UNAUTHORIZED',
      stored: 0,
    })
  })

  test('row 3: subsidizeFees with a key that is unknown or revoked is 401', async () => {
    const answer = await ask({ subsidizeFees: true }, { key: 'revoked' })
    expect(answer).toMatchObject({ status: 401, code: 'UNAUTHORIZED', stored: 0 })
  })

  test('row 4: an unknown key is 401 without sponsorship as well', async () => {
    expect(await ask({}, { key: 'revoked' })).toMatchObject({ status: 401, code: 'UNAUTHORIZED', stored: 0 })
  })

  test('row 5: subsidizeFees with a key that has no wallet is 403', async () => {
    const answer = await ask({ subsidizeFees: true }, { key: unlinkedKey })
    expect(answer).toMatchObject({ status: 403, code: 'FORBIDDEN', stored: 0 })
  })
})

describe('balance and cap', () => {
  test('row 6: a balance that suffices pays execution, swap and relay; the user keeps the app fee', async () => {
    const answer = await ask({ subsidizeFees: true }, { balance: fees })
    expect(answer).toMatchObject({ ...sponsorPaid, app: '500000', relayer: '130000' })
    expect(answer.sponsorship).toMatchObject({
      status: 'full',
      quoted: {
        selectedComponents: ['execution', 'swap', 'relay'],
        capHit: false,
        components: {
          execution: { selected: true, sponsored: { amount: '30000' }, userPays: { amount: '0' } },
          relay: { selected: true, sponsored: { amount: '100000' }, userPays: { amount: '0' } },
          app: { selected: false, sponsored: { amount: '0' }, userPays: { amount: '500000' } },
        },
        sponsoredTotal: { amount: '130000' },
        userPaysTotal: { amount: '500000' },
      },
    })
    expect(answer.sponsorship.reason).toBeUndefined()
  })

  test('row 7: a balance below the fees pays nothing, and the answer says why', async () => {
    const answer = await ask({ subsidizeFees: true }, { balance: fees - 1n })
    expect(answer).toMatchObject(userPaid)
    expect(answer.sponsorship).toMatchObject({
      status: 'none',
      reason: 'INSUFFICIENT_BALANCE',
      quoted: { sponsoredTotal: { amount: '0' }, userPaysTotal: { amount: '630000' } },
    })
  })

  test('row 8: a cap of at least the fees changes nothing', async () => {
    const answer = await ask({ subsidizeFees: true, maxSubsidizationAmount: '130000' })
    expect(answer).toMatchObject(sponsorPaid)
    expect(answer.sponsorship).toMatchObject({
      status: 'full',
      quoted: { capHit: false, maxSubsidizationAmount: '130000' },
    })
  })

  test('L-50: row 9: a cap below the fees is paid in full and the user pays the rest', async () => {
    const answer = await ask({ subsidizeFees: true, maxSubsidizationAmount: '100000' }, { balance: 100_000n })
    expect(answer).toMatchObject({ out: '39788000000000000', subsidized: '100000', held: [100_000n] })
    expect(answer.sponsorship).toMatchObject({
      status: 'partial',
      reason: 'CAP_BELOW_FEES',
      quoted: {
        capHit: true,
        components: {
          execution: { sponsored: { amount: '30000' } },
          relay: { sponsored: { amount: '70000' }, userPays: { amount: '30000' } },
        },
      },
    })
  })

  test('row 10: a balance below the cap pays nothing', async () => {
    const answer = await ask({ subsidizeFees: true, maxSubsidizationAmount: '100000' }, { balance: 99_999n })
    expect(answer).toMatchObject(userPaid)
    expect(answer.sponsorship).toMatchObject({ status: 'none', reason: 'INSUFFICIENT_BALANCE' })
  })

  test('row 11: a cap of zero pays nothing', async () => {
    const answer = await ask({ subsidizeFees: true, maxSubsidizationAmount: '0' })
    expect(answer).toMatchObject(userPaid)
    expect(answer.sponsorship).toMatchObject({
      status: 'none',
      reason: 'CAP_BELOW_FEES',
      quoted: { capHit: true },
    })
  })

  test('row 12: a cap without subsidizeFees is ignored', async () => {
    const answer = await ask({ maxSubsidizationAmount: '130000' })
    expect(answer).toMatchObject(userPaid)
    expect(answer.sponsorship).toMatchObject({ status: 'none', reason: 'NOTHING_TO_SPONSOR' })
  })

  test.each(['1.5', '-1', '1e6', '', '0x10'])('row 13: the cap "%s" is 400', async (cap) => {
    const answer = await ask({ subsidizeFees: true, maxSubsidizationAmount: cap })
    expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST', stored: 0 })
  })
})

describe('rent of a Solana token account', () => {
  test('row 14: subsidizeRent without subsidizeFees pays no rent and is no error', async () => {
    const answer = await ask({ subsidizeRent: true })
    expect(answer).toMatchObject(userPaid)
    expect(answer.sponsorship).toMatchObject({ status: 'none', reason: 'RENT_NOT_SUBSIDIZED' })
  })

  test('row 15: with both, the sponsor pays the rent too', () => {
    expect(share({ subsidizeRent: true }, { rent })).toMatchObject({
      sponsored: { execution: 30_000n, swap: 40_000n, relay: 60_000n, rent },
      total: fees + rent,
      status: 'full',
    })
  })

  test('row 16: subsidizeFees alone leaves a request that makes an account to the user', () => {
    const withRent = share({}, { rent })
    expect(withRent).toMatchObject({ sponsored: nobody, total: 0n, reason: 'RENT_NOT_SUBSIDIZED' })
    expect(share({ components: ['execution'] }, { rent })).toMatchObject({ total: 0n })
  })

  test('row 17: subsidizeFees alone pays where the account exists', () => {
    expect(share({}, { rent: 0n })).toMatchObject({ total: fees, status: 'full', reason: undefined })
  })

  test('row 18: subsidizeRent changes nothing off Solana', async () => {
    expect(await ask({ subsidizeFees: true, subsidizeRent: true })).toMatchObject(sponsorPaid)
  })

  test('row 19: the component rent does what subsidizeRent does', () => {
    const named = share({ components: ['execution', 'swap', 'relay', 'rent'] }, { rent })
    expect(named).toEqual(share({ subsidizeRent: true }, { rent }))
    expect(named.sponsored.rent).toBe(rent)
  })
})

describe('components', () => {
  test('row 20: execution alone leaves swap, relay and app to the user', async () => {
    expect(share({ components: ['execution'] })).toMatchObject({
      sponsored: { execution: 30_000n, swap: 0n, relay: 0n, rent: 0n },
      total: 30_000n,
      capHit: false,
      status: 'partial',
    })
    const answer = await ask({ subsidizeFees: true, sponsoredFeeComponents: ['execution'] })
    expect(answer).toMatchObject({ subsidized: '30000', app: '500000', held: [30_000n] })
    expect(answer.sponsorship.quoted.selectedComponents).toEqual(['execution'])
  })

  test('row 21: a cap below the chosen components is spent in budget order', () => {
    expect(share({ components: ['relay', 'execution'], capMicroUsd: 50_000n })).toMatchObject({
      sponsored: { execution: 30_000n, swap: 0n, relay: 20_000n, rent: 0n },
      total: 50_000n,
      capHit: true,
      reason: 'CAP_BELOW_FEES',
    })
  })

  test('row 22: app is accepted and stays with the user', async () => {
    const sponsoredFeeComponents = ['execution', 'swap', 'relay', 'app']
    const answer = await ask({ subsidizeFees: true, sponsoredFeeComponents })
    expect(answer).toMatchObject({ ...sponsorPaid, app: '500000' })
    expect(answer.sponsorship.quoted.selectedComponents).toEqual(['execution', 'swap', 'relay'])
    expect(await ask({ subsidizeFees: true, sponsoredFeeComponents: ['app'] })).toMatchObject({
      ...userPaid,
      sponsorship: { status: 'none', reason: 'NOTHING_TO_SPONSOR' },
    })
  })

  test.each([
    // Execution costs 30,000, and 20,000 of them are a flat fee, which is no gas.
    [['gas'], '10000', ['execution']],
    [['relayer'], '130000', ['execution', 'swap', 'relay']],
    [['gas', 'relayer', 'app'], '130000', ['execution', 'swap', 'relay']],
    [['gas', 'relay'], '110000', ['execution', 'relay']],
  ])(
    'Q-30: the words %j buy %s, of the fees %j',
    async (sponsoredFeeComponents, subsidized, selectedComponents) => {
      const answer = await ask({ subsidizeFees: true, sponsoredFeeComponents })
      expect(answer).toMatchObject({ subsidized, app: '500000', held: [BigInt(subsidized)] })
      expect(answer.sponsorship.quoted.selectedComponents).toEqual(selectedComponents)
      if (sponsoredFeeComponents.includes('relayer')) expect(answer.subsidized).toBe(answer.relayer)
    },
  )

  test("Q-30: origin gas is the user's, and the sponsor's with a permit alone", async () => {
    const named = { subsidizeFees: true, sponsoredFeeComponents: ['gas', 'relayer'] }
    const [plain, permit] = [await ask(named), await ask({ ...named, usePermit: true })]
    expect(BigInt(plain.gas)).toBeGreaterThan(0n)
    expect([plain.subsidized, permit.gas, permit.subsidized]).toEqual([plain.relayer, '0', permit.relayer])
    expect(BigInt(permit.relayer)).toBeGreaterThan(BigInt(plain.relayer))
  })

  test('Q-31: rent is bought by its own word alone, and leaves everything to the user without it', () => {
    const gas = 10_000n
    expect(share({ components: ['gas', 'relayer'] }, { rent })).toMatchObject({
      total: 0n,
      reason: 'RENT_NOT_SUBSIDIZED',
    })
    expect(share({ components: ['gas', 'rent'] }, { rent })).toMatchObject({ total: gas + rent })
    expect(share({ components: ['relayer', 'rent'] }, { rent })).toMatchObject({
      total: fees + rent,
      status: 'full',
    })
    expect(share({ components: ['rent'] })).toMatchObject({
      total: 0n,
      capHit: false,
      reason: 'NOTHING_TO_SPONSOR',
    })
  })

  test('row 23: components without subsidizeFees sponsor nothing and are no error', async () => {
    const answer = await ask({ sponsoredFeeComponents: ['execution'] })
    expect(answer).toMatchObject(userPaid)
    expect(answer.sponsorship).toMatchObject({ status: 'none', reason: 'NOTHING_TO_SPONSOR' })
  })

  test.each([[[]], [['fuel']], [['execution', 'toString']]])(
    'row 24: the components %j are 400',
    async (list) => {
      const answer = await ask({ subsidizeFees: true, sponsoredFeeComponents: list })
      expect(answer).toMatchObject({ status: 400, code: 'INVALID_REQUEST', stored: 0 })
    },
  )
})

describe('deposit addresses', () => {
  const byAddress = (change: Partial<SponsorshipRequest>) => share(change, {}, true)

  const bridge = { originCurrency: native, amount: '1000000000000000000', useDepositAddress: true }
  const asking = { ...bridge, subsidizeFees: true }

  test('row 25: without a cap the sponsor pays all fees, the gas of the sweep among them', async () => {
    expect(byAddress({})).toMatchObject({ total: fees, status: 'full' })
    const answer = await ask(asking)
    expect(answer).toMatchObject({ status: 200, stored: 1, steps: ['deposit'] })
    expect(answer.sponsorship).toMatchObject({ status: 'full' })
    expect(answer.subsidized).toBe(answer.relayer)
    const direct = await ask({ ...asking, useDepositAddress: false })
    expect(BigInt(answer.subsidized)).toBeGreaterThan(BigInt(direct.subsidized))
    expect(answer.held).toHaveLength(1)
  })

  test('row 26: a cap of at least the fees changes nothing', async () => {
    expect(byAddress({ capMicroUsd: fees })).toMatchObject({ total: fees, capHit: false, status: 'full' })
    const { held, subsidized } = await ask(asking)
    const capped = await ask({ ...asking, maxSubsidizationAmount: String(held[0]) })
    expect([capped.subsidized, capped.held]).toEqual([subsidized, held])
    expect(capped.sponsorship).toMatchObject({ status: 'full' })
  })

  test('row 27: a cap below the fees pays nothing', async () => {
    const { held } = await ask(asking)
    const capped = await ask({ ...asking, maxSubsidizationAmount: String((held[0] ?? 0n) - 1n) })
    expect(capped).toMatchObject({ status: 200, subsidized: '0', held: [] })
    expect(capped.sponsorship).toMatchObject({ status: 'none', reason: 'CAP_BELOW_FEES' })
    expect(byAddress({ capMicroUsd: fees - 1n })).toMatchObject({
      sponsored: nobody,
      total: 0n,
      capHit: true,
      reason: 'CAP_BELOW_FEES',
      status: 'none',
    })
  })

  test('row 28: components are ignored', async () => {
    expect(byAddress({ components: ['execution'] })).toEqual(byAddress({}))
    const [named, all] = [await ask({ ...asking, sponsoredFeeComponents: ['execution'] }), await ask(asking)]
    expect([named.subsidized, named.held]).toEqual([all.subsidized, all.held])
  })
})

describe('depositFeePayer', () => {
  const solanaUser = '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1'
  const payer = 'So11111111111111111111111111111111111111112'
  const solana = {
    chainId: 792_703_809,
    vmType: 'solana-vm',
    codec: codecOf(mainNetwork('solana-vm')),
  } as const
  const toBase = { user: solanaUser, origin: solana, destinationChainId: 8453 }

  test('row 29: another account on a Solana origin pays the origin side and no balance', () => {
    expect(depositFeePayer({ account: payer, ...toBase })).toEqual({ account: payer, isExploitable: false })
    const terms = sponsorshipTerms({ ...asked, subsidizeFees: false, depositFeePayer: payer }, null, {
      useDepositAddress: false,
    })
    expect(terms).toEqual({ reason: 'NOTHING_TO_SPONSOR' })
  })

  test('row 30: the user as payer is 400', async () => {
    expect(() => depositFeePayer({ account: solanaUser, ...toBase })).toThrow(
      expect.objectContaining({
        code: 'INVALID_ADDRESS',
        message: 'depositFeePayer is not allowed: it must differ from user.',
        data: { field: 'depositFeePayer' },
      }),
    )
    expect(await ask({ depositFeePayer: user })).toMatchObject({
      status: 400,
      code: 'INVALID_ADDRESS',
      stored: 0,
    })
  })

  test('row 31: a payer off Solana or malformed is 400', async () => {
    expect(() => depositFeePayer({ account: 'not an account', ...toBase })).toThrow('not a Solana account')
    for (const account of [payer, recipient]) {
      const answer = await ask({ depositFeePayer: account, subsidizeFees: true })
      expect(answer).toMatchObject({ status: 400, code: 'INVALID_ADDRESS', held: [], stored: 0 })
    }
  })

  test('row 32: it leaves what the balance pays on the destination as it is', () => {
    const both = { subsidizeRent: true, capMicroUsd: 400_000n }
    expect(share({ ...both, depositFeePayer: payer }, { rent })).toEqual(share(both, { rent }))
    expect(depositFeePayer({ account: payer, ...toBase }).account).toBe(payer)
  })

  test('row 33: on one Solana chain it is allowed and flagged as exploitable', () => {
    const swap = depositFeePayer({ account: payer, ...toBase, destinationChainId: solana.chainId })
    expect(swap).toEqual({ account: payer, isExploitable: true })
  })
})

describe('permits', () => {
  /** The transaction that the solver sends on the origin. */
  const relayed = 10_000n

  test('row 34: the user pays the gas of a first approval', async () => {
    const approved = await ask({ subsidizeFees: true })
    expect(approved).toMatchObject({ ...sponsorPaid, steps: ['approve', 'deposit'] })
    expect(BigInt(approved.gas)).toBeGreaterThan(0n)
    // No kind of permit that is taken needs an approval before it.
    const permit = await ask({ usePermit: true, subsidizeFees: true })
    expect(permit).toMatchObject({ steps: ['authorize1'], gas: '0' })
  })

  test('row 35: without an approval the user pays no origin gas and the sponsor pays the deposit', async () => {
    const subsidized = (fees + relayed).toString()
    expect(await ask({ usePermit: true, subsidizeFees: true })).toMatchObject({
      status: 200,
      out: fullOut,
      gas: '0',
      stored: 1,
      subsidized,
      relayer: subsidized,
      held: [fees + relayed],
    })
    expect(await ask({ usePermit: true })).toMatchObject({
      status: 200,
      out: '39744000000000000',
      gas: '0',
      subsidized: '0',
      relayer: subsidized,
    })
    const capped = await ask({ usePermit: true, subsidizeFees: true, maxSubsidizationAmount: '50000' })
    expect(capped).toMatchObject({ subsidized: '50000', sponsorship: { quoted: { capHit: true } } })
  })

  test('row 36: a gasless request on one chain without a sponsor is refused', async () => {
    const sameChain = { destinationChainId: chainA, destinationCurrency: usdc, usePermit: true, appFees: [] }
    const refused = { status: 400, code: 'UNSUPPORTED_EXECUTION_TYPE', stored: 0 }
    expect(await ask(sameChain)).toMatchObject(refused)
    expect(await ask({ ...sameChain, subsidizeFees: true }, { balance: 0n })).toMatchObject(refused)
    expect(await ask({ ...sameChain, subsidizeFees: true })).toMatchObject({
      status: 200,
      steps: ['authorize2'],
      gas: '0',
      out: '100000000',
      stored: 1,
    })
  })
})

describe('amounts', () => {
  test('row 37: a gas top-up counts as subsidized and against the cap', async () => {
    const topup = {
      subsidizeFees: true,
      destinationCurrency: usdc,
      topupGas: true,
      topupGasAmount: '2000000',
    }
    const answer = await ask(topup)
    expect(answer.status).toBe(200)
    expect(BigInt(answer.subsidized)).toBeGreaterThan(2_000_000n)
    expect(answer.subsidized).toBe(answer.relayer)
    expect(answer.held).toEqual([BigInt(answer.subsidized)])
    const capped = await ask({ ...topup, maxSubsidizationAmount: '2000000' })
    expect(capped).toMatchObject({ subsidized: '2000000', sponsorship: { quoted: { capHit: true } } })
  })

  test('row 38: a reward stays with the user and offsets no other fee', () => {
    expect(share({}, { skew: -50_000n })).toMatchObject({
      sponsored: { execution: 30_000n, swap: 0n, relay: 60_000n, rent: 0n },
      total: 90_000n,
      status: 'full',
    })
    expect(share({ components: ['swap'] }, { skew: -50_000n })).toMatchObject({
      total: 0n,
      reason: 'NOTHING_TO_SPONSOR',
    })
  })

  test('row 39: with an exact output the sponsor lowers the input', async () => {
    const exact = { tradeType: 'EXACT_OUTPUT', amount: '40000000000000000' }
    const plain = await ask(exact)
    const sponsored = await ask({ ...exact, subsidizeFees: true })
    expect([plain.amountIn, sponsored.amountIn]).toEqual(['100633803', '100502512'])
    expect(sponsored.out).toBe('40000000000000000')
    expect(sponsored.subsidized).toBe(sponsored.held.join())
  })

  test('row 40: where a request cannot fall back to its user, a low balance ends it', () => {
    expect(lateReservation({ status: 'insufficient_balance' })).toEqual({
      action: 'refund',
      failReason: 'SPONSOR_BALANCE_TOO_LOW',
    })
  })

  test('row 41: /price ignores sponsorship fields', async () => {
    const fields = { subsidizeFees: true, maxSubsidizationAmount: '5', sponsoredFeeComponents: ['swap'] }
    const answer = await ask(fields, { key: '', url: '/price' })
    expect(answer).toMatchObject({ status: 200, out: plainOut, subsidized: '0', held: [], stored: 0 })
    expect(answer.sponsorship).toBeUndefined()
  })

  test('row 42: a balance that is spent after the quote is found by the fresh reservation', () => {
    const holdId: Hex = '0x01'
    expect(lateReservation({ status: 'reserved', holdId })).toEqual({ action: 'pin' })
    for (const status of ['insufficient_balance', 'at_deposit', 'sponsor_frozen'] as const) {
      expect(lateReservation({ status }).action).toBe('refund')
    }
    expect(lateReservation({ status: 'policy_refused', rule: 'maxTotal' }).action).toBe('refund')
  })
})
