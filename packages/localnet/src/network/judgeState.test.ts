import { describe, expect, it } from 'vitest'
import { generateLocalKeys } from '../keys/generateKeys.ts'
import { countingKeys } from '../keys/testKeys.ts'
import { judgeState, type StateFacts } from './judgeState.ts'
import { testDeployment } from './testDeployment.ts'

const networkId = `0x${'01'.repeat(32)}` as const
const keys = generateLocalKeys(countingKeys())
const deployment = testDeployment()
const whole: StateFacts = {
  keyFile: { kind: 'read', networkId, keys },
  manifest: { kind: 'read', networkId, deploymentHash: 'now', deployment },
  missingChains: [],
  deploymentHash: 'now',
}

describe('judgeState', () => {
  it('continues a network of which everything is there', () => {
    expect(judgeState(whole)).toEqual({ kind: 'kept', networkId, keys, deployment })
  })

  it('takes nothing at all for a first start', () => {
    const missing = { kind: 'missing' } as const
    const facts = { ...whole, keyFile: missing, manifest: missing }
    expect(judgeState({ ...facts, missingChains: ['base', 'optimism', 'hub'] })).toEqual({ kind: 'empty' })
  })

  it.each<[string, Partial<StateFacts>]>([
    ['keys.json is missing', { keyFile: { kind: 'missing' } }],
    ['keys.json is not a whole key file of a local network', { keyFile: { kind: 'unusable' } }],
    ['an earlier first start did not finish', { manifest: { kind: 'missing' } }],
    ['manifest.json is not a whole manifest', { manifest: { kind: 'unusable' } }],
    [
      'keys.json belongs to another network',
      { keyFile: { kind: 'read', networkId: `0x${'02'.repeat(32)}`, keys } },
    ],
    ['the contracts or their deployment changed', { deploymentHash: 'later' }],
    ['the chain file of hub is missing', { missingChains: ['hub'] }],
  ])('gives up everything because %s', (reason, change) => {
    expect(judgeState({ ...whole, ...change })).toEqual({ kind: 'unusable', reason })
  })
})
