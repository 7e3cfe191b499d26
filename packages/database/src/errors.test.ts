import { DomainError } from '@causeway/core'
import { expect, test } from 'vitest'
import { DatabaseDiskFullError, toCallerError, whileStarting } from './errors.ts'

function driverError(code: string | undefined, message = 'said by the driver'): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code })
}

test.each([
  ['ECONNREFUSED', 'DATABASE_STARTING'],
  ['ECONNRESET', 'DATABASE_STARTING'],
  ['57P03', 'DATABASE_STARTING'],
  ['57P02', 'DATABASE_STARTING'],
  ['25006', 'DATABASE_STARTING'],
  ['53300', 'DATABASE_STARTING'],
  ['53100', 'DATABASE_DISK_FULL'],
])('%s at start is waited for as %s', (code, reason) => {
  expect(whileStarting(driverError(code))?.code).toBe(reason)
})

test.each(['28P01', '28000', '3D000', '42601', 'ENOTFOUND', 'ERR_INVALID_URL'])(
  '%s at start is an operator’s to mend',
  (code) => {
    expect(whileStarting(driverError(code))).toBeUndefined()
  },
)

test('a connection that was cut before it was one is waited for', () => {
  expect(whileStarting(driverError(undefined, 'Connection terminated unexpectedly'))?.code).toBe(
    'DATABASE_STARTING',
  )
  expect(whileStarting(driverError(undefined, 'anything else'))).toBeUndefined()
})

test('a full disk is named whatever state the server gives it', () => {
  const panic = driverError('XX000', 'could not write to file "pg_wal/xlogtemp.9": No space left on device')
  for (const error of [panic, driverError('53100')]) {
    const answer = toCallerError(error)
    expect(answer).toBeInstanceOf(DatabaseDiskFullError)
    expect(answer).toMatchObject({ kind: 'upstream_unavailable', retryable: true, cause: error })
  }
})

test.each([
  ['57P03', 'DATABASE_STARTING'],
  ['25006', 'DATABASE_STARTING'],
  ['ECONNREFUSED', 'SERVICE_UNAVAILABLE'],
])('a running service answers %s as %s, to be repeated', (code, answered) => {
  const answer = toCallerError(driverError(code))
  expect(answer instanceof DomainError && [answer.code, answer.retryable]).toEqual([answered, true])
})
