// Goal: whatever a field of a request names, on any family of chains, is either refused by name or may be paid. Method: the
// shipped files of the local network, which quote every family; each kind of account that an address gives away, and
// each answer of a chain about one, in each field.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from '@causeway/core'
import { chainsFileSchema, quoteFileSchema } from '@causeway/core/config'
import { tronAddress, type VmType } from '@causeway/core/encodings'
import { type AccountLack, quotingFamilies } from '@causeway/families/rules'
import { describe, expect, test } from 'vitest'
import { toQuoteRequest } from '../../http/wire/quoteBody.ts'
import { resolveClaim } from '../../money/appFees/claimTerms.ts'
import { QuoteError } from '../errors.ts'
import { createRegistry, type QuotableChain } from '../registry.ts'
import { askPayee, type Payee, type PayeePorts } from './mayBePaid.ts'
import { resolveRoute } from './route.ts'

const hex = (byte: string): Hex => `0x${byte.repeat(20)}`
/** An account that somebody holds, and the fill wallet. */
const accounts: Readonly<Record<VmType, readonly [plain: string, fillWallet: string]>> = {
  'ethereum-vm': [hex('a1'), hex('f1')],
  'hyperliquid-vm': [hex('a1'), hex('f1')],
  'tron-vm': [tronAddress(hex('a1')), tronAddress(hex('f1'))],
  'solana-vm': ['vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg', `${'1'.repeat(30)}Fi`],
  'bitcoin-vm': [
    'bcrt1q5xs6rgdp5xs6rgdp5xs6rgdp5xs6rgdpa854mc',
    'bcrt1q78clru0378clru0378clru0378clru0300wsxc',
  ],
  'lighter-vm': ['161', '241'],
}
/** Accounts that the network of a family keeps for itself. */
const reserved: Readonly<Record<VmType, readonly string[]>> = {
  'ethereum-vm': [`0x${'0'.repeat(39)}1`, `0x42${'0'.repeat(36)}15`, `0x${'0'.repeat(36)}1010`],
  'hyperliquid-vm': [`0x20${'0'.repeat(36)}c5`, hex('22')],
  'tron-vm': [tronAddress(`0x${'0'.repeat(38)}0a`)],
  'solana-vm': ['SysvarRent111111111111111111111111111111111', 'Vote111111111111111111111111111111111111111'],
  'bitcoin-vm': [],
  'lighter-vm': [],
}

const custody = hex('c5')
const read = (name: string): unknown =>
  JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../../../configs', name), 'utf8'),
    (_key, value) => {
      const family = /^\$(?:([A-Z]+)_)?FILL_WALLET_ADDRESS$/.exec(String(value))
      if (family !== null) return accounts[vmTypeNamed(family[1] ?? 'ethereum')][1]
      if (value === '$BITCOIN_FILL_WALLET_PUBLIC_KEY')
        return '0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
      return typeof value === 'string' && value.startsWith('$') ? 'http://127.0.0.1' : value
    },
  )
function vmTypeNamed(name: string): VmType {
  const [vmType] = Object.keys(accounts).filter((one) => one === `${name.toLowerCase()}-vm`)
  // CAST: it is a key of the record above.
  return vmType as VmType
}
const registry = createRegistry(
  quoteFileSchema.parse(read('quote.local.json')),
  chainsFileSchema
    .parse(read('chains.local.json'))
    .chains.map((chain) => ({ ...chain, network: chain.additionalData?.network })),
  { custody },
)
const [base, optimism] = registry.chains

/** Kinds of accounts that are never paid on a chain. */
function neverPaid(chain: QuotableChain): readonly string[] {
  const { fillContract, multicall3, depositRouter, cleanupRouter } = chain.config
  const tokens = [...chain.currencies.values()].filter(({ isNative }) => !isNative)
  const contracts = [fillContract, multicall3, depositRouter, cleanupRouter].flatMap((contract) =>
    contract === undefined ? [] : (quotingFamilies[chain.vmType]?.accountOfHex?.(contract) ?? []),
  )
  return [
    ...[chain.depository, accounts[chain.vmType][1], ...tokens.map(({ address }) => address)],
    ...[...contracts, ...reserved[chain.vmType], ...(chain.vmType === 'ethereum-vm' ? [custody] : [])],
  ]
}

const otherThan = (chain: QuotableChain): QuotableChain => {
  const other = chain === base ? optimism : base
  if (other === undefined) throw new Error('the file quotes chains')
  return other
}

/** A request between a chain and another one, as callers write it. */
function resolved(origin: QuotableChain, destination: QuotableChain, more: object): void {
  const request = toQuoteRequest({
    user: accounts[origin.vmType][0],
    recipient: accounts[destination.vmType][0],
    originChainId: origin.chainId,
    destinationChainId: destination.chainId,
    tradeType: 'EXACT_INPUT',
    originCurrency: origin.native.address,
    destinationCurrency: destination.native.address,
    amount: '1',
    ...more,
  })
  resolveRoute(registry, request)
}

type Field = {
  readonly named: string
  readonly takesNobody: boolean
  name(chain: QuotableChain, account: string): void
}
const fields: readonly (readonly [string, Field])[] = [
  [
    'recipient',
    {
      named: 'recipient',
      takesNobody: true,
      name: (chain, recipient) => resolved(otherThan(chain), chain, { recipient }),
    },
  ],
  [
    'recipient of a top-up',
    {
      named: 'recipient',
      takesNobody: true,
      name: (chain, recipient) => resolved(otherThan(chain), chain, { recipient, topupGas: true }),
    },
  ],
  ...['refundTo', 'recoveryAddress'].map((member): [string, Field] => [
    member,
    {
      named: 'refundTo',
      takesNobody: false,
      name: (chain, account) =>
        resolved(chain, otherThan(chain), { [member]: account, useDepositAddress: true }),
    },
  ]),
  [
    'recipient of a claim',
    {
      named: 'recipient',
      takesNobody: false,
      name: (chain, recipient) =>
        void resolveClaim(registry, {
          chainId: chain.chainId,
          currency: chain.native.address,
          recipient,
          wallet: hex('a1'),
          amount: undefined,
        }),
    },
  ],
  [
    'recipient of app fees',
    {
      named: 'appFees.0.recipient',
      takesNobody: false,
      name: (chain, recipient) => resolved(chain, otherThan(chain), { appFees: [{ recipient, fee: '1' }] }),
    },
  ],
]

/** The refusal of an account in a field, with the member that it names; undefined where it is accepted. */
function refusalIn({ name }: Field, chain: QuotableChain, account: string) {
  try {
    name(chain, account)
    return undefined
  } catch (error) {
    if (!(error instanceof QuoteError)) throw error
    return { code: error.code, field: error.data['field'], message: error.message }
  }
}

test('Q-60: the table has every family', () => {
  expect(new Set(registry.chains.map(({ vmType }) => vmType))).toEqual(new Set(Object.keys(accounts)))
})

describe.each(registry.chains.map((chain) => [chain.key, chain] as const))('on %s', (_key, chain) => {
  const isEvm = chain.vmType === 'ethereum-vm'
  const own = fields.filter(([, { named }]) => isEvm || !named.startsWith('appFees'))

  test.each(own)(
    'Q-60, Q-4: as %s nothing is named that is never paid, and a plain account may be',
    (_what, field) => {
      const code = 'INVALID_RECIPIENT'
      for (const account of neverPaid(chain))
        expect([account, refusalIn(field, chain, account)]).toMatchObject([
          account,
          { code, field: field.named },
        ])
      expect(refusalIn(field, chain, accounts[chain.vmType][0])).toBeUndefined()
      const nobodies =
        quotingFamilies[chain.vmType]?.burnt.filter((account) => chain.codec.isAddress(account)) ?? []
      for (const account of nobodies)
        expect([account, refusalIn(field, chain, account)?.code]).toEqual([
          account,
          field.takesNobody ? undefined : code,
        ])
    },
  )

  const says: readonly (readonly [string, Partial<PayeePorts>])[] = [
    ...[
      ['cannot exist', { isUnpayable: true }] as const,
      ['holds more than can be counted', { isUncountable: true }] as const,
      ['is frozen, guarded or handed on', { refusal: 'has a frozen account' }] as const,
    ].map(([what, lack]) => [what, { lackOf: async (): Promise<AccountLack> => lack }] as const),
    ['refuses the payment', { tryPayment: async () => ({ refusal: 'cannot be paid' }) }],
    ...(chain.quoting.paysTokensToCode ? [] : [['has code', { hasCode: async () => true }] as const]),
  ]
  const answers: PayeePorts = {
    hasCode: async () => false,
    lackOf: async () => ({}),
    tryPayment: async () => ({ refusal: undefined }),
  }
  const payee = (what: Payee['what']): Payee => ({
    what,
    chain,
    account: accounts[chain.vmType][0],
    currency: chain.native,
    amount: 1n,
    makesState: what === 'output' || what === 'topup',
    isNamed: true,
  })

  test.each(says)(
    'Q-61, Q-62: an account that %s is refused in each payment, by its field',
    async (_what, change) => {
      for (const what of ['output', 'topup', 'refund', 'claim'] as const) {
        const refused = askPayee({ ...answers, ...change }, payee(what), 'named')
        await expect(refused).rejects.toMatchObject({
          code: expect.stringMatching(/^(INVALID_RECIPIENT|RECIPIENT_HAS_CODE)$/),
          data: { field: 'named' },
        })
        expect(await askPayee(answers, payee(what), 'named')).toMatchObject({ refusal: undefined })
      }
    },
  )

  test('Q-60, Q-63: nothing is given back to a user who is never paid', async () => {
    for (const account of neverPaid(chain)) {
      const user: Payee = { ...payee('refund'), account, makesState: true, isDepositor: true }
      await expect(askPayee(answers, user, 'refundTo')).rejects.toMatchObject({
        code: 'INVALID_RECIPIENT',
      })
    }
  })

  test('Q-61: an account whose state nobody was charged for is paid as output and top-up alone', async () => {
    const lackOf = async (): Promise<AccountLack> => ({ accountFee: 1n, stateBytes: 1 })
    for (const what of ['output', 'topup'] as const)
      await askPayee({ ...answers, lackOf }, payee(what), 'named')
    for (const what of ['refund', 'claim'] as const)
      await expect(askPayee({ ...answers, lackOf }, payee(what), 'named')).rejects.toMatchObject({
        code: 'INVALID_RECIPIENT',
      })
  })
})

const placeholders: Readonly<Partial<Record<VmType, string>>> = {
  'ethereum-vm': `0x${'0'.repeat(40)}`,
  'lighter-vm': '0x000000000000000000000000000000000000dEaD',
  'tron-vm': 'THa7BwoPfacfiELa63pbmm3g5PGKYmtJyt',
}

test.each(
  registry.chains.filter(({ vmType }) => vmType in placeholders).map((chain) => [chain.key, chain] as const),
)('Q-158: on %s a placeholder that a page repeats as recipient counts as none', (_, chain) => {
  const user = placeholders[chain.vmType]
  expect(() => resolved(chain, chain, { user, recipient: user })).not.toThrow()
  expect(() => resolved(chain, chain, { user, recipient: undefined })).not.toThrow()
})

test.each(registry.chains.map((chain) => [chain.key, chain] as const))(
  'Q-109: a price to %s needs no wallet',
  (_, chain) => {
    for (const origin of registry.chains) {
      const nobodies = { user: origin.payees.nobody, recipient: chain.payees.nobody }
      expect(() => resolved(origin, chain, nobodies)).not.toThrow()
    }
  },
)
