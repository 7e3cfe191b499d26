import { DomainError, UpstreamUnavailableError } from '@causeway/core'
import { expect, test } from 'vitest'
import { policy } from '../test/fixtures/httpTestApp.ts'
import { describeFailure } from './describeFailure.ts'
import { RequestFailure, statusByFailure } from './failure.ts'

class AmountTooLow extends DomainError {
  readonly code = 'AMOUNT_TOO_LOW'
  readonly kind = 'invalid_request'
}
class Taken extends DomainError {
  readonly code = 'TAKEN'
  readonly kind = 'conflict'
}
class Limited extends DomainError {
  readonly code = 'ROUTE_TEMPORARILY_RESTRICTED'
  readonly kind = 'rate_limited'
}

test('a 400 carries its facts as a string, no other status carries errorData', () => {
  const low = describeFailure(new AmountTooLow('Too low.', { data: { minimumAmount: '100' } }), policy)
  expect(low.body).toEqual({
    message: 'Too low.',
    errorCode: 'AMOUNT_TOO_LOW',
    statusCode: 400,
    errorData: '{"minimumAmount":"100"}',
  })
  const taken = describeFailure(new Taken('Taken.', { data: { id: '1' } }), policy)
  expect(taken.body).toEqual({ message: 'Taken.', errorCode: 'TAKEN', statusCode: 409 })
})

test('a 400 without facts carries none, in the same form', () => {
  expect(describeFailure(new AmountTooLow('Too low.'), policy).body.errorData).toBe('{}')
})

test('a broken rule is told in the same form as every other fact', () => {
  const rule = 'amount is required and must be a string.'
  const failure = new RequestFailure('invalid_request', rule, { field: 'amount' })
  expect(JSON.parse(describeFailure(failure, policy).body.errorData ?? '')).toEqual({ field: 'amount', rule })
})

test('a failure that may pass says so and when', () => {
  const error = new UpstreamUnavailableError('Late.', { retryAfterSeconds: 2.2, code: 'RPC_HTTP_ERROR' })
  const answer = describeFailure(error, policy)
  expect(answer.retryAfterSeconds).toBe(3)
  expect(answer.body).toEqual({
    message: 'Late.',
    errorCode: 'RPC_HTTP_ERROR',
    statusCode: 503,
    retryable: true,
  })
})

test('every 429 has an error text, is retryable and waits at least a second', () => {
  for (const error of [new Limited('Wait.'), new RequestFailure('rate_limited', 'Wait.')]) {
    const answer = describeFailure(error, policy)
    expect(answer.retryAfterSeconds).toBe(1)
    expect(answer.body).toMatchObject({
      statusCode: 429,
      error: 'Rate limit exceeded',
      retryable: true,
    })
  }
  expect(describeFailure(new Limited('Wait.'), policy).body.errorCode).toBe('ROUTE_TEMPORARILY_RESTRICTED')
})

test('an app can name its own code for a field', () => {
  const failure = new RequestFailure('invalid_request', 'slippageTolerance must be less.', {
    field: 'slippageTolerance',
  })
  expect(describeFailure(failure, policy).body.errorCode).toBe('INVALID_SLIPPAGE_TOLERANCE')
  const other = new RequestFailure('invalid_request', 'amount must be less.', { field: 'amount' })
  expect(describeFailure(other, policy).body.errorCode).toBe('INVALID_REQUEST')
})

test('what nobody foresaw becomes a constant 500', () => {
  const foreign = Object.assign(new Error('secret'), { statusCode: 404, code: 'ERR_BAD_REQUEST' })
  for (const error of [new Error('secret at https://x/key'), foreign, 'text', null, { statusCode: 400 }]) {
    const answer = describeFailure(error, policy)
    expect(answer).toEqual({
      status: 500,
      body: { message: 'Internal error.', errorCode: 'UNKNOWN_ERROR', statusCode: 500 },
      retryAfterSeconds: undefined,
      isBug: true,
    })
  }
})

test('framework texts are replaced, unknown framework refusals of a request are 400', () => {
  const unknown = Object.assign(new Error('quotes the request'), { statusCode: 417, code: 'FST_ERR_NEW' })
  expect(describeFailure(unknown, policy).body).toEqual({
    message: 'The request could not be read.',
    errorCode: 'MALFORMED_HTTP',
    statusCode: 400,
    errorData: '{}',
  })
  const large = Object.assign(new Error('x'), { statusCode: 413, code: 'FST_ERR_CTP_BODY_TOO_LARGE' })
  expect(describeFailure(large, policy).body).toMatchObject({
    errorCode: 'BODY_TOO_LARGE',
    statusCode: 413,
  })
})

test('every framework failure is answered with its own status and code', () => {
  for (const [failure, status] of Object.entries(statusByFailure)) {
    // CAST: keys of the table are its failures.
    const name = failure as keyof typeof statusByFailure
    const answer = describeFailure(new RequestFailure(name, 'x'), policy)
    expect([answer.status, answer.body.errorCode]).toEqual([status, policy.errorCodes[name]])
  }
})
