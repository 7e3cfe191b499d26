import { z } from 'zod'
import { type RequestStatus, requestStatuses } from './requestProgress.ts'
import type { StatusRecord } from './requestStatus.ts'

/** Fields of the status answer in all three versions of the interface. @source rules O-51, Q-105 */
const sharedFields = {
  inTxHashes: z.array(z.string()).describe('Deposits'),
  txHashes: z.array(z.string()).describe('Fills, or refunds of a refunded request'),
  originChainId: z.int(),
  destinationChainId: z.int(),
}
const timeMs = z.int().describe('Milliseconds since the epoch')
const statusesV1 = ['failure', 'fallback', 'pending', 'received', 'success'] as const
const statusesV2 = ['waiting', 'depositing', 'pending', 'success', 'failure', 'refund'] as const

export const statusV1Schema = z.object({ status: z.enum(statusesV1), ...sharedFields, time: timeMs })
export const statusV2Schema = z.object({
  status: z.enum(statusesV2),
  ...sharedFields,
  time: timeMs,
  quoteCreatedAt: timeMs,
})
export const statusV3Schema = z.object({
  status: z.enum(requestStatuses),
  ...sharedFields,
  updatedAt: timeMs,
  quoteCreatedAt: timeMs,
  quoteExpiresAt: timeMs.describe(
    'Milliseconds since the epoch; a deposit in a later block is filled only at a price that is no worse',
  ),
  failReason: z.string().describe('"N/A" where nothing is wrong'),
  refundFailReason: z.string().describe('"N/A" unless its refund failed'),
})

/** Version 1 has other names: `received` for waiting, and `fallback` for refunds. */
const toV1: Readonly<Record<RequestStatus, (typeof statusesV1)[number]>> = {
  waiting: 'received',
  depositing: 'pending',
  pending: 'pending',
  submitted: 'pending',
  delayed: 'pending',
  success: 'success',
  failure: 'failure',
  refund: 'fallback',
}
const toV2: Readonly<Record<RequestStatus, (typeof statusesV2)[number]>> = {
  waiting: 'waiting',
  depositing: 'depositing',
  pending: 'pending',
  submitted: 'pending',
  delayed: 'pending',
  success: 'success',
  failure: 'failure',
  refund: 'refund',
}

export function statusToV1(record: StatusRecord): z.output<typeof statusV1Schema> {
  return { status: toV1[record.status], ...sharedOf(record), time: record.updatedAtMs }
}

export function statusToV2(record: StatusRecord): z.output<typeof statusV2Schema> {
  const { updatedAtMs, createdAtMs } = record
  return {
    status: toV2[record.status],
    ...sharedOf(record),
    time: updatedAtMs,
    quoteCreatedAt: createdAtMs,
  }
}

export function statusToV3(record: StatusRecord): z.output<typeof statusV3Schema> {
  const { status, updatedAtMs, createdAtMs, expiresAtMs } = record
  const { failReason = 'N/A', refundFailReason = 'N/A' } = record
  return {
    status,
    ...sharedOf(record),
    updatedAt: updatedAtMs,
    quoteCreatedAt: createdAtMs,
    quoteExpiresAt: expiresAtMs,
    failReason,
    refundFailReason,
  }
}

function sharedOf({ inTxHashes, txHashes, originChainId, destinationChainId }: StatusRecord) {
  return {
    inTxHashes: [...inTxHashes],
    txHashes: [...txHashes],
    originChainId,
    destinationChainId,
  }
}
