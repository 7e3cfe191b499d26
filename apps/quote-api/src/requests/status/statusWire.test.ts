// Goal: each version tells the same state in its own words.
import { describe, expect, test } from 'vitest'
import { type RequestStatus, requestStatuses } from './requestProgress.ts'
import type { StatusRecord } from './requestStatus.ts'
import {
  statusToV1,
  statusToV2,
  statusToV3,
  statusV1Schema,
  statusV2Schema,
  statusV3Schema,
} from './statusWire.ts'

const record = (status: RequestStatus, more: Partial<StatusRecord> = {}): StatusRecord => ({
  status,
  failReason: undefined,
  refundFailReason: undefined,
  inTxHashes: ['0x01'],
  txHashes: [],
  originChainId: 8_453,
  destinationChainId: 10,
  createdAtMs: 1_000,
  expiresAtMs: 61_000,
  updatedAtMs: 2_000,
  ...more,
})

describe('the state of a request', () => {
  test.each<[RequestStatus, string, string]>([
    ['waiting', 'received', 'waiting'],
    ['depositing', 'pending', 'depositing'],
    ['pending', 'pending', 'pending'],
    ['submitted', 'pending', 'pending'],
    ['delayed', 'pending', 'pending'],
    ['success', 'success', 'success'],
    ['failure', 'failure', 'failure'],
    ['refund', 'fallback', 'refund'],
  ])('%s is %s in v1 and %s in v2', (status, v1, v2) => {
    expect(statusToV1(record(status))).toEqual({
      status: v1,
      inTxHashes: ['0x01'],
      txHashes: [],
      originChainId: 8_453,
      destinationChainId: 10,
      time: 2_000,
    })
    expect(statusToV2(record(status))).toMatchObject({ status: v2, time: 2_000, quoteCreatedAt: 1_000 })
    expect(statusToV3(record(status))).toMatchObject({
      status,
      updatedAt: 2_000,
      quoteCreatedAt: 1_000,
      quoteExpiresAt: 61_000,
    })
  })

  test('fits its schema, whatever it is', () => {
    for (const status of requestStatuses) {
      expect(statusV1Schema.parse(statusToV1(record(status)))).toEqual(statusToV1(record(status)))
      expect(statusV2Schema.parse(statusToV2(record(status)))).toEqual(statusToV2(record(status)))
      expect(statusV3Schema.parse(statusToV3(record(status)))).toEqual(statusToV3(record(status)))
    }
  })

  test('O-50: names a reason of what failed or stands still, and "N/A" otherwise', () => {
    const reasons = (status: RequestStatus, more: Partial<StatusRecord> = {}) => {
      const { failReason, refundFailReason } = statusToV3(record(status, more))
      return [failReason, refundFailReason]
    }
    expect(reasons('pending', { failReason: 'SOLVER_SILENT' })).toEqual(['SOLVER_SILENT', 'N/A'])
    expect(reasons('refund', { failReason: 'TTL_EXPIRED' })).toEqual(['TTL_EXPIRED', 'N/A'])
    expect(reasons('pending')).toEqual(['N/A', 'N/A'])
    expect(reasons('pending', { refundFailReason: 'MANUAL_REFUND_REQUIRED' })).toEqual([
      'N/A',
      'MANUAL_REFUND_REQUIRED',
    ])
  })
})
