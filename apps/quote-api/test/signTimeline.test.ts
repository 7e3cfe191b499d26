// Goal: a signed timeline is what the service said, all of it, and nothing else. Attackers: a support chat that shows a
// story with one word changed, a step left out, two swapped or evidence moved; an owner who lets the order signer sign
// stories; a stranger who has one story signed 700 times while each signature costs money.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret, type Signer } from '@causeway/core'
import { createRawKeySigner } from '@causeway/signer'
import { expect, onTestFinished, test } from 'vitest'
import { checkEvidenceKey, createSignTimeline } from '../src/requests/timeline/signTimeline.ts'
import type { Timeline } from '../src/requests/timeline/timeline.ts'
import type { TimelineAnswer } from '../src/requests/timeline/timelineAnswer.ts'

const id = (digit: string) => `0x${digit.repeat(64)}` as const
const evidenceKey = createRawKeySigner({ privateKey: new Secret(id('5')) })

const story: Timeline = {
  requestId: id('1'),
  orderId: id('2'),
  status: 'success',
  reason: undefined,
  steps: [
    {
      step: 'quoted',
      atMs: 1_000,
      reason: undefined,
      text: 'Quoted: 5 USDC for 4.9 USDC.',
      evidence: [
        { kind: 'amount', label: 'pays', value: '5 USDC', chainId: 8453 },
        { kind: 'moment', label: 'deadline', value: '2026-01-01T00:00:00.000Z' },
      ],
    },
    { step: 'deposit-seen', atMs: 2_000, reason: 'DEPOSIT_LATE', text: 'It came.', evidence: [] },
    { step: 'succeeded', atMs: 3_000, reason: undefined, text: 'It succeeded.', evidence: [] },
  ],
}

/** Counts what is signed. */
function counting(): Signer & { count: number } {
  const counted = {
    count: 0,
    address: evidenceKey.address,
    sign: ((request, options) => {
      counted.count += 1
      return evidenceKey.sign(request, options)
    }) satisfies Signer['sign'],
  }
  return counted
}

const script = join(import.meta.dirname, '../../../docs/guides/examples/verifyTimeline.ts')

/** Verdict of the published script on an answer, in a process of its own. */
function verified(answer: object): { readonly isGenuine: boolean; readonly told: string } {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-timeline-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'answer.json')
  writeFileSync(file, JSON.stringify(answer))
  try {
    const words = [script, file, evidenceKey.address]
    return {
      isGenuine: true,
      told: execFileSync(process.execPath, words, { encoding: 'utf8', stdio: 'pipe' }),
    }
  } catch (error) {
    return { isGenuine: false, told: String(error) }
  }
}

test('the published script takes what was signed, and tells nothing that was not', async () => {
  const answer = await createSignTimeline({ signer: evidenceKey, nowMs: () => 9_000 })(story)
  expect(answer.signed).toMatchObject({ signer: evidenceKey.address, asOf: '1970-01-01T00:00:09.000Z' })
  const { isGenuine, told } = verified({ ...answer, note: 'You get 500 USDC.' })
  expect({ isGenuine, told }).toMatchObject({
    isGenuine: true,
    told: expect.stringContaining('Quoted: 5 USDC'),
  })
  expect(told).not.toContain('500')
  expect(verified({ ...answer, status: 'refund' })).toMatchObject({
    isGenuine: false,
    told: expect.stringContaining('Not signed so'),
  })
}, 60_000)

const forged: Readonly<Record<string, (answer: TimelineAnswer) => object>> = {
  'a word changed': (answer) => ({ ...answer, status: 'refund' }),
  'a step left out': ({ steps, ...answer }) => ({ ...answer, steps: steps.slice(1) }),
  'two steps swapped': ({ steps, ...answer }) => ({ ...answer, steps: steps.toReversed() }),
  'evidence moved to another chain': ({ steps, ...answer }) => ({
    ...answer,
    steps: steps.map((step) => ({
      ...step,
      evidence: step.evidence.map((each) => ({ ...each, chainId: 1 })),
    })),
  }),
  'another time': ({ signed, ...answer }) => ({
    ...answer,
    signed: { ...signed, asOf: '2030-01-01T00:00:00.000Z' },
  }),
}

test.each(Object.entries(forged))('%s is not what was signed', async (_, forge) => {
  const answer = await createSignTimeline({ signer: evidenceKey })(story)
  // Loaded by its path: it is published beside a guide, and a process for each forgery takes two seconds.
  const { isSignedBy } = await import(script)
  expect(await isSignedBy(evidenceKey.address, answer)).toBe(true)
  expect(await isSignedBy(evidenceKey.address, forge(answer))).toBe(false)
})

test('O-205: one story that is asked for 700 times is signed once, and again when something happened or a minute passed', async () => {
  const signer = counting()
  let now = 1_000
  const sign = createSignTimeline({ signer, nowMs: () => now })
  const answers = await Promise.all(Array.from({ length: 700 }, () => sign(story)))
  expect(new Set(answers.map((answer) => answer.signed?.signature)).size).toBe(1)
  expect(signer.count).toBe(1)
  await sign({ ...story, status: 'refund' })
  expect(signer.count).toBe(2)
  now += 60_000
  await sign({ ...story, status: 'refund' })
  expect(signer.count).toBe(3)
})

test('a signature that failed is asked for again', async () => {
  const signer = counting()
  let isDown = true
  const sign = createSignTimeline({
    signer: {
      ...signer,
      sign: (request) => (isDown ? Promise.reject(new Error('down')) : signer.sign(request)),
    },
  })
  await expect(sign(story)).rejects.toThrow('down')
  isDown = false
  expect((await sign(story)).signed?.signer).toBe(evidenceKey.address)
})

test('without an evidence key a request for a signature is refused by name', async () => {
  const refused = createSignTimeline({ signer: undefined })(story)
  await expect(refused).rejects.toMatchObject({
    code: 'EVIDENCE_KEY_NOT_CONFIGURED',
    data: { field: 'signed' },
  })
})

test('the order signer signs no stories', () => {
  expect(() => checkEvidenceKey(evidenceKey.address, evidenceKey.address)).toThrow('key of its own')
  expect(() => checkEvidenceKey(undefined, evidenceKey.address)).not.toThrow()
})
