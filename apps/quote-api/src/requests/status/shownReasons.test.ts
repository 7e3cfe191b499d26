// Goal: no status says that nothing is wrong where something failed or stands still. Method: each state with each trouble.
import { expect, test } from 'vitest'
import type { RequestStatus } from './requestProgress.ts'
import { type ShownRow, sentHashes, shownReasons } from './shownReasons.ts'

const row = (status: RequestStatus, more: Partial<ShownRow> = {}): ShownRow => ({
  status,
  fail_reason: null,
  refund_fail_reason: null,
  refund_reason: null,
  open_work: null,
  may_stand: true,
  ...more,
})
const fill = { kind: 'fill', transaction: null, report: null, tries: 0 } as const
const refund = { ...fill, kind: 'refund' } as const
const stands = (reason: 'SOLVER_SILENT' | 'REFUND_FAILED', isRefund: boolean) => ({ reason, isRefund })

test('O-50: a request that fails, is given back or stands still says why, from the first try on', () => {
  const pairOf = (...args: Parameters<typeof shownReasons>) => {
    const { failReason, refundFailReason } = shownReasons(...args)
    return [failReason, refundFailReason]
  }
  expect(pairOf(row('pending', { open_work: [fill] }), undefined)).toEqual([undefined, undefined])
  const noGas = [{ ...fill, tries: 1, report: 'no gas' }]
  expect(pairOf(row('pending', { open_work: noGas }), undefined)[0]).toBe('TRANSACTION_SUBMISSION_FAILED')
  const reverts = { open_work: [{ ...refund, report: 'reverted' }], refund_reason: 'TTL_EXPIRED' }
  expect(pairOf(row('pending', reverts), undefined)).toEqual(['TTL_EXPIRED', 'TRANSACTION_REVERTED'])
  expect(pairOf(row('pending'), stands('SOLVER_SILENT', false))).toEqual(['SOLVER_SILENT', undefined])
  const parked = { refund_fail_reason: 'MANUAL_REFUND_REQUIRED', refund_reason: 'TTL_EXPIRED' }
  expect(pairOf(row('pending', parked), stands('REFUND_FAILED', true))).toEqual([
    'TTL_EXPIRED',
    'MANUAL_REFUND_REQUIRED',
  ])
  // A failure of a fill is not shown once the request succeeded, nor while it goes on.
  expect(pairOf(row('success', { fail_reason: 'SIGNATURE_EXPIRED' }), undefined)[0]).toBeUndefined()
  expect(pairOf(row('pending', { fail_reason: 'SIGNATURE_EXPIRED' }), undefined)[0]).toBeUndefined()
  expect(pairOf(row('refund', { fail_reason: 'TTL_EXPIRED' }), undefined)).toEqual(['TTL_EXPIRED', undefined])
  expect(pairOf(row('failure'), undefined)).toEqual(['UNKNOWN', undefined])
})

test('O-51: what the solver has sent is shown by its role', () => {
  const open_work = [
    { ...fill, transaction: '0x1' },
    { ...refund, transaction: '0x2' },
    { ...fill, kind: 'permit', transaction: '0x3' } as const,
  ]
  expect(sentHashes(row('pending', { open_work }), ['fill', 'refund'])).toEqual(['0x1', '0x2'])
  expect(sentHashes(row('pending', { open_work }), ['permit', 'sweep'])).toEqual(['0x3'])
})
