// Goal: only enough signatures together with the own reading move money; one oracle decides nothing.
import { describe, expect, test } from 'vitest'
import {
  askAgainAfterMs,
  type OracleVote,
  type OwnReading,
  type SettleDecision,
  settleDecision,
} from './settleDecision.ts'

function decide(
  own: OwnReading,
  said: readonly OracleVote[],
  nowSeconds = 10,
  contradictions: number = askAgainAfterMs.length,
): SettleDecision {
  return settleDecision({ own, said, threshold: 2, contradictions, nowSeconds, endSeconds: 100 })
}
const park = (reason: string) => ({ action: 'park', reason })
const wait = { action: 'wait' }

describe('a filled request', () => {
  test.each<[string, SettleDecision, object]>([
    ['two of three sign', decide('paid', ['signed', 'nothing', 'signed']), { action: 'post' }],
    ['two sign, one lies', decide('paid', ['signed', 'denied', 'signed']), { action: 'post' }],
    ['one signs', decide('paid', ['signed', 'nothing', 'nothing']), wait],
    ['one lies, one is dead', decide('paid', ['signed', 'denied', 'nothing']), wait],
    [
      'no quorum is possible any more',
      decide('paid', ['signed', 'denied', 'denied']),
      park('SEEN_BUT_DENIED'),
    ],
    [
      'signed, but not seen by us',
      decide('not_paid', ['signed', 'signed', 'signed']),
      park('ATTESTED_BUT_NOT_SEEN'),
    ],
    ['gone from the chain', decide('not_paid', ['denied', 'denied', 'denied']), wait],
    ['gone for good', decide('not_paid', ['denied', 'nothing', 'nothing'], 100), park('FILL_NOT_SEEN')],
    ['not final', decide('not_yet', ['signed', 'signed', 'signed']), wait],
    ['never proven', decide('paid', ['nothing', 'nothing', 'signed'], 100), park('ATTESTATION_TIMED_OUT')],
  ])('L-69: %s', (_name, decided, expected) => {
    expect(decided).toEqual(expected)
  })

  test.each<[string, OwnReading, readonly OracleVote[], string]>([
    ['denied by too many', 'paid', ['denied', 'denied', 'signed'], 'SEEN_BUT_DENIED'],
    ['signed, but not seen by us', 'not_paid', ['signed', 'signed', 'nothing'], 'ATTESTED_BUT_NOT_SEEN'],
  ])('L-69: that is %s is asked about again, later each time, then parked', (_name, own, said, reason) => {
    for (const [before, delayMs] of askAgainAfterMs.entries()) {
      expect(decide(own, said, 10, before)).toEqual({ action: 'ask_again', delayMs })
    }
    expect(decide(own, said)).toEqual(park(reason))
  })
})
