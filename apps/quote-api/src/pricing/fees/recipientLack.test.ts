// Goal: nobody is quoted a payment that his chain would not keep, or rent that is guessed. Method: answers of a chain as
// they come, and the whole refusals.
import type { AccountLack } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import { chainA, chainB, native, recipient, testRegistry, usdc, user } from '../../../test/fixtures/market.ts'
import { marketWithRentChain, rates, rentChain } from '../../../test/fixtures/rentFamily.ts'
import { toQuoteRequest } from '../../http/wire/quoteBody.ts'
import { resolveRoute } from '../routes/route.ts'
import { checkLeastPayment, recipientLack, requireLack } from './recipientLack.ts'

const route = resolveRoute(
  testRegistry(),
  toQuoteRequest({
    user,
    recipient,
    originChainId: chainA,
    destinationChainId: chainB,
    originCurrency: usdc,
    destinationCurrency: usdc,
    amount: '1',
    tradeType: 'EXACT_INPUT',
  }),
)

const token: AccountLack = { stateBytes: 165 }
const coin: AccountLack = { isAbsent: true }
test.each([
  [false, token, coin, token],
  [false, undefined, coin, undefined],
  [true, token, coin, { stateBytes: 165, isAbsent: true }],
  [true, undefined, coin, undefined],
  [true, token, undefined, undefined],
])(
  'with a top-up (%s), a lack of %o for the output and %o for coin is %o',
  (topupGas, output, topup, lack) => {
    const asked: object[] = []
    const lackOf = (question: { readonly currency: string }) => {
      asked.push(question)
      return question.currency === native ? topup : output
    }
    expect(recipientLack({ lackOf }, route, { topupGas })).toEqual(lack)
    const questions = [usdc, ...(topupGas ? [native] : [])]
    expect(asked).toEqual(questions.map((currency) => ({ chainId: chainB, account: recipient, currency })))
  },
)

test('F-144: an empty account is paid no coin that it would not keep, and any amount of a token', () => {
  const [fees] = marketWithRentChain().flatMap((chain) => (chain.chainId === rentChain ? [chain.fees] : []))
  if (fees === undefined) throw new Error('the market has no chain with rent')
  const least = 128n * rates.rentByte
  const pay = (amount: bigint, more: object = {}) =>
    checkLeastPayment(fees, {
      lack: coin,
      currency: { isNative: true, symbol: 'COIN', decimals: 9 },
      amount,
      ...more,
    })
  pay(least)
  pay(0n, { currency: { isNative: false, symbol: 'USDC', decimals: 6 } })
  pay(0n, { lack: {} })
  const code = 'AMOUNT_TOO_LOW'
  const message = 'The recipient would keep no payment of less than 0.00089088 COIN.'
  const refusal = (data: object) => expect.objectContaining({ code, message, data })
  expect(() => pay(least - 1n)).toThrow(refusal({}))
  expect(() => pay(least - 1n, { field: 'topupGasAmount' })).toThrow(refusal({ field: 'topupGasAmount' }))
})

test('Q-61, Q-159: a lack that no payment mends is refused, and one that is not known may be asked again', () => {
  expect(requireLack(token, route)).toBe(token)
  expect(() => requireLack({ isUnpayable: true }, route)).toThrow(
    expect.objectContaining({
      code: 'INVALID_RECIPIENT',
      message: `recipient is no account of chain ${chainB}, and no payment makes it: open it there first.`,
      data: { field: 'recipient', chainId: chainB, recipient },
    }),
  )
  expect(() => requireLack(undefined, route)).toThrow(
    expect.objectContaining({
      code: 'SERVICE_UNAVAILABLE',
      data: { chainId: chainB, reason: 'recipient_unknown' },
      retryable: true,
    }),
  )
})
