import { describe, expect, it } from 'vitest'
import { describeFinalChange, judgeFinal } from './finalChange.ts'

const known = { number: 7n, hash: '0xa7' }

describe('a block that was final', () => {
  it.each([
    ['stands', '0xa7', { kind: 'unchanged' }],
    ['O-61: is another one', '0xb7', { kind: 'changed', contradiction: contradictionOf('0xb7') }],
    ['O-68: is above the end', undefined, { kind: 'behind', contradiction: contradictionOf(undefined) }],
  ])('%s', (_, foundHash, verdict) => {
    expect(judgeFinal(known, foundHash)).toEqual(verdict)
  })

  it('is told with both hashes', () => {
    expect(describeFinalChange(contradictionOf('0xb7'))).toBe('block 7 was 0xa7 and is 0xb7')
    expect(describeFinalChange(contradictionOf(undefined))).toBe('block 7 was 0xa7 and is no block')
  })
})

function contradictionOf(foundHash: string | undefined) {
  return { blockNumber: 7n, knownHash: '0xa7', foundHash }
}
