// The request tables of the quote document, and for each field what fits it and what does not.
import type { Hex } from '@causeway/core'

export type Field = {
  /** Id of the sentence in docs/specification/interface.md. */
  readonly id: string
  readonly name: string
  readonly type: 'string' | 'number' | 'boolean' | 'array'
  readonly isRequired?: true
  readonly isDeprecated?: true
  readonly pattern?: string
  readonly words?: readonly string[]
  /** For an array: the patterns of its items' members, all of them text. */
  readonly items?: Readonly<Record<string, string | undefined>>
  /** Members of the whole body where a request with them is priced. */
  readonly fits?: Readonly<Record<string, object>>
  /** Values of the field that are refused for the field, beside those of another type. */
  readonly unfit?: Readonly<Record<string, unknown>>
}

const somebody: Hex = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const address = '^0x[a-fA-F0-9]{40}$'
const digits = '^[0-9]+$'
const call = { to: somebody, value: '0', data: '0x' }
const txs = (change: object) => ({ txs: [{ ...call, ...change }], txsGasLimit: 50_000 })
const fee = { recipient: somebody, fee: '100' }
const upper = `0x${somebody.slice(2).toUpperCase()}`
const lower = somebody.toLowerCase()

/** Texts that are no address, no amount and no currency of any chain. */
const noAddress = {
  'too short': '0x12',
  'too long': `${lower}00`,
  'no hex': `0x${'g'.repeat(40)}`,
  empty: '',
}

const currency = {
  'a currency of nobody': somebody,
  'a name': 'USDC',
  empty: '',
  'of an object': '__proto__',
}

/** `POST /price`, Request body fields, in the order of the table. */
export const priceFields: readonly Field[] = [
  {
    id: 'Q-price-req-01',
    name: 'user',
    type: 'string',
    isRequired: true,
    fits: { 'in lower case': { user: lower }, 'in upper case': { user: upper } },
    unfit: noAddress,
  },
  {
    id: 'Q-price-req-02',
    name: 'recipient',
    type: 'string',
    fits: { 'in lower case': { recipient: lower } },
    unfit: noAddress,
  },
  {
    id: 'Q-price-req-03',
    name: 'originChainId',
    type: 'number',
    isRequired: true,
    unfit: { 'an unknown chain': 4_242, zero: 0, 'below zero': -1, 'a fraction': 1.5 },
  },
  {
    id: 'Q-price-req-04',
    name: 'destinationChainId',
    type: 'number',
    isRequired: true,
    unfit: { 'an unknown chain': 4_242, zero: 0, 'below zero': -1, 'beyond safe integers': 2 ** 53 },
  },
  { id: 'Q-price-req-05', name: 'originCurrency', type: 'string', isRequired: true, unfit: currency },
  {
    id: 'Q-price-req-06',
    name: 'destinationCurrency',
    type: 'string',
    isRequired: true,
    unfit: currency,
  },
  {
    id: 'Q-price-req-07',
    name: 'amount',
    type: 'string',
    isRequired: true,
    pattern: digits,
    fits: { 'with leading zeros': { amount: '000100000000' } },
    unfit: {
      empty: '',
      zero: '0',
      negative: '-5',
      'a decimal': '1.0',
      'in hex': '0x10',
      'an exponent': '1e18',
      'with spaces': ' 5',
      'of other digits': '１２',
      'of 2^256': String(2n ** 256n),
    },
  },
  {
    id: 'Q-price-req-08',
    name: 'tradeType',
    type: 'string',
    isRequired: true,
    words: ['EXACT_INPUT', 'EXACT_OUTPUT', 'EXPECTED_OUTPUT'],
    fits: {
      EXACT_INPUT: { tradeType: 'EXACT_INPUT' },
      EXACT_OUTPUT: { tradeType: 'EXACT_OUTPUT' },
      EXPECTED_OUTPUT: { tradeType: 'EXPECTED_OUTPUT' },
    },
    unfit: { 'in lower case': 'exact_input', 'another word': 'EXPECTED_INPUT', empty: '' },
  },
  {
    id: 'Q-price-req-09',
    name: 'txs',
    type: 'array',
    items: { to: address, value: undefined, data: '^0x[a-fA-F0-9]*$' },
    fits: {
      'no call': { txs: [] },
      'a call': txs({}),
      'to an address in upper case': txs({ to: upper }),
      'with data in both cases': txs({ data: '0xaBcD' }),
    },
    unfit: {
      'to a name': [{ ...call, to: 'me' }],
      'to 19 bytes': [{ ...call, to: lower.slice(0, 40) }],
      'to 21 bytes': [{ ...call, to: `${lower}00` }],
      'to nobody': [{ ...call, to: undefined }],
      'value negative': [{ ...call, value: '-1' }],
      'value a list': [{ ...call, value: [] }],
      'value no number': [{ ...call, value: 'x' }],
      'data a number': [{ ...call, data: 1 }],
      // It fits the pattern: a rule of its own refuses it.
      'data of half a byte': [{ ...call, data: '0x1' }],
      'data without 0x': [{ ...call, data: 'ab' }],
      'data no hex': [{ ...call, data: '0xzz' }],
      'items of text': ['0x'],
    },
  },
  {
    id: 'Q-price-req-10',
    name: 'referrer',
    type: 'string',
    fits: { 'any text': { referrer: 'a.client/1.0' } },
  },
  {
    id: 'Q-price-req-11',
    name: 'refundTo',
    type: 'string',
    fits: { 'an address': { refundTo: lower } },
    unfit: noAddress,
  },
  {
    id: 'Q-price-req-12',
    name: 'refundOnOrigin',
    type: 'boolean',
    isDeprecated: true,
    fits: { true: { refundOnOrigin: true }, false: { refundOnOrigin: false } },
  },
  {
    id: 'Q-price-req-13',
    name: 'useExternalLiquidity',
    type: 'boolean',
    fits: { false: { useExternalLiquidity: false } },
  },
  {
    id: 'Q-price-req-14',
    name: 'useFallbacks',
    type: 'boolean',
    fits: { false: { useFallbacks: false } },
  },
  {
    id: 'Q-price-req-15',
    name: 'usePermit',
    type: 'boolean',
    fits: { true: { usePermit: true }, false: { usePermit: false } },
  },
  {
    id: 'Q-price-req-16',
    name: 'useDepositAddress',
    type: 'boolean',
    fits: { false: { useDepositAddress: false } },
  },
  {
    id: 'Q-price-req-17',
    name: 'slippageTolerance',
    type: 'string',
    pattern: '^([0-9]{1,4}|10000)$',
    fits: Object.fromEntries(
      ['0', '1', '0000', '0050', '9999', '10000'].map((slippageTolerance) => [
        slippageTolerance,
        { slippageTolerance },
      ]),
    ),
    unfit: Object.fromEntries(
      ['', '-1', '0.5', '00050', '010000', '10001', '99999', 'abc', '5 '].map((value) => [value, value]),
    ),
  },
  {
    id: 'Q-price-req-18',
    name: 'appFees',
    type: 'array',
    items: { recipient: address, fee: digits },
    fits: {
      'no fee': { appFees: [] },
      'of one basis point': { appFees: [{ ...fee, fee: '1' }] },
      'of zero basis points': { appFees: [{ ...fee, fee: '0' }] },
      'with leading zeros': { appFees: [{ ...fee, fee: '000100' }] },
      'to an address in upper case': { appFees: [{ ...fee, recipient: upper }] },
    },
    unfit: {
      'to a name': [{ ...fee, recipient: 'me' }],
      'to nobody': [{ fee: '1' }],
      'to 19 bytes': [{ ...fee, recipient: lower.slice(0, 40) }],
      'without a fee': [{ recipient: lower }],
      // Nobody could claim it.
      'to the zero address': [{ ...fee, recipient: `0x${'0'.repeat(40)}` }],
      negative: [{ ...fee, fee: '-1' }],
      'a number': [{ ...fee, fee: 1 }],
      'a part': [{ ...fee, fee: '0.5' }],
      empty: [{ ...fee, fee: '' }],
      'of more than all': [{ ...fee, fee: '10001' }],
    },
  },
]

/** `POST /quote`, Request parameters, in the order of the table; `recipient` is required here. */
export const quoteFields: readonly Field[] = [
  ...Object.entries({
    'Q-quote-req-01': 'user',
    'Q-quote-req-02': 'originChainId',
    'Q-quote-req-03': 'originCurrency',
    'Q-quote-req-04': 'destinationChainId',
    'Q-quote-req-05': 'destinationCurrency',
    'Q-quote-req-06': 'tradeType',
    'Q-quote-req-07': 'recipient',
    'Q-quote-req-08': 'amount',
  }).flatMap(([id, name]) =>
    priceFields
      .filter((field) => field.name === name)
      .map((field) => ({ ...field, id, isRequired: true as const })),
  ),
  {
    id: 'Q-quote-req-09',
    name: 'subsidizeFees',
    type: 'boolean',
    fits: { false: { subsidizeFees: false } },
  },
  {
    id: 'Q-quote-req-10',
    name: 'maxSubsidizationAmount',
    type: 'string',
    fits: { zero: { maxSubsidizationAmount: '0' }, 'one dollar': { maxSubsidizationAmount: '1000000' } },
    unfit: { 'a decimal': '1.0', negative: '-1', 'a name': 'much', empty: '', 'an exponent': '1e6' },
  },
  {
    id: 'Q-quote-req-11',
    name: 'subsidizeRent',
    type: 'boolean',
    fits: { true: { subsidizeRent: true }, false: { subsidizeRent: false } },
  },
  {
    id: 'Q-quote-req-12',
    name: 'depositFeePayer',
    type: 'string',
    unfit: { 'of an EVM chain': lower, 'a name': 'me', empty: '' },
  },
  {
    id: 'Q-quote-req-13',
    name: 'sponsoredFeeComponents',
    type: 'array',
    fits: {
      'gas fees': { sponsoredFeeComponents: ['gas'] },
      'relayer fees': { sponsoredFeeComponents: ['relayer'] },
      both: { sponsoredFeeComponents: ['gas', 'relayer'] },
    },
    unfit: { 'an unknown word': ['tips'], 'a number': [1], 'a list of lists': [['gas']] },
  },
]

/** Values of every type but the right one; `null` never leaves a field out. */
export function otherTypes({ type }: Field): Readonly<Record<string, unknown>> {
  const all = { number: 5, string: 'text', boolean: true, array: [], object: {}, null: null }
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== type))
}
