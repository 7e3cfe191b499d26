import { type DepositsResponse, depositsResponseSchema } from '@causeway/attestations'
import { signers } from './attestations.ts'

type Lie =
  | 'garbageUnderItsName'
  | 'garbageUnderOurName'
  | 'fiveTimes'
  | 'thousandTimes'
  | 'signatureMissing'
  | 'signatureObject'
  | 'otherActions'
  | 'noExecution'
  | 'signaturesNull'
  | 'otherTimestamp'
  | 'otherMetadata'

export type FaultyPeerMode =
  | Lie
  | 'silent'
  | 'dying'
  | 'dripping'
  | 'flooding'
  | 'oversized'
  | 'redirecting'
  | 'failing'
  | 'anotherFact'

type Entry = { oracleSigner: string; signature: string }
type ChangeEntries = (entries: readonly Entry[]) => unknown

/** Answer of a lying peer instead of the true one; the truth in the modes that lie about nothing. */
export function tamper(truth: unknown, mode: FaultyPeerMode): unknown {
  const { messages, execution, ...rest } = depositsResponseSchema.parse(truth)
  if (execution === undefined) throw new Error('the true answer has an execution')
  const everywhere = (change: ChangeEntries) => ({
    ...rest,
    messages: messages.map((message) => ({ ...message, signatures: change(message.signatures) })),
    execution: { ...execution, signatures: change(execution.signatures) },
  })
  switch (mode) {
    case 'garbageUnderItsName':
      return everywhere((entries) => entries.map((entry) => ({ ...entry, signature: garbage })))
    case 'garbageUnderOurName':
      return everywhere((entries) =>
        entries.map((entry) => ({ ...entry, oracleSigner: signers.A.address, signature: garbage })),
      )
    case 'fiveTimes':
      return everywhere((entries) => Array.from({ length: 5 }, () => entries).flat())
    case 'thousandTimes':
      return everywhere((entries) => Array.from({ length: 1_000 }, () => entries).flat())
    case 'signatureMissing':
      return everywhere((entries) => entries.map(({ signature: _signature, ...entry }) => entry))
    case 'signatureObject':
      return everywhere((entries) => entries.map((entry) => ({ ...entry, signature: { r: 1 } })))
    case 'otherActions':
      return { messages, execution: { ...execution, actions: execution.actions.map(() => '0x1234') } }
    case 'noExecution':
      return { messages }
    case 'signaturesNull':
      return everywhere(() => null)
    case 'otherTimestamp':
      return { execution, messages: messages.map((message) => later(message)) }
    case 'otherMetadata':
      return {
        messages,
        execution: {
          ...execution,
          metadata: execution.metadata.map((entry) => ({ ...entry, hubTokenId: '7' })),
        },
      }
    default:
      return truth
  }
}

function later(message: DepositsResponse['messages'][number]) {
  return { ...message, extraData: { timestamp: '1800000000' } }
}

const garbage = `0x${'12'.repeat(65)}`
