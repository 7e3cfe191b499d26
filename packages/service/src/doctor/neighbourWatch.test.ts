// Goal: who runs a service sees within a minute that a neighbour is not what the settings say, and is not told of one that
// restarts. Attacks: a finding of one look alone, one that is told elsewhere, a look that fails, a watch that was closed.
import type { Finding, Findings } from '@causeway/core/config'
import { expect, test } from 'vitest'
import { watchNeighbours } from './neighbourWatch.ts'

const silent: Finding = {
  code: 'peer-silent',
  severity: 'degrades',
  setting: 'PEERS entry 1',
  seen: 'a.example does not answer',
  fix: 'Look.',
}
const refusing: Finding = { ...silent, code: 'peer-refuses', setting: 'PEERS entry 2' }

function watched() {
  let found: readonly Finding[] | undefined = []
  let looks = 0
  const lines: object[] = []
  const note = (fields: object) => void lines.push(fields)
  const watch = watchNeighbours({
    name: 'peers',
    codes: ['peer-silent'],
    log: { warn: note, info: note },
    everyMs: 1,
    async look(findings: Findings) {
      looks += 1
      if (found === undefined) throw new Error('a bug')
      findings.add(...found)
    },
  })
  /** Whole looks that began after this call. */
  async function look(next: readonly Finding[] | undefined, count = 1): Promise<void> {
    const before = looks
    found = next
    await expect.poll(() => looks, { interval: 1 }).toBeGreaterThan(before + count)
  }
  const told = () =>
    watch.check.check(AbortSignal.timeout(1_000)).then(
      () => 'ok',
      (error: unknown) => Object(error).code,
    )
  return { watch, look, told, lines, looks: () => looks }
}

test('O-127: what two looks in a row find is told, and ends with the first look that finds it no more', async () => {
  const { watch, look, told, lines, looks } = watched()
  expect([watch.check.isShownOnly, await told()]).toEqual([true, 'ok'])
  await look([silent], 2)
  expect(await told()).toBe('PEER_SILENT')
  expect(lines).toEqual([
    { event: 'neighbours_differ', findings: ['PEERS entry 1: a.example does not answer. Look.'] },
  ])
  // Reports of other services do not change the result.
  await look([refusing], 2)
  expect([await told(), lines.at(-1)]).toEqual(['ok', { event: 'neighbours_agree' }])
  await look(undefined)
  await look([silent], 2)
  expect(await told()).toBe('PEER_SILENT')
  watch.close()
  const last = looks()
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(looks()).toBeLessThanOrEqual(last + 1)
})

test('O-127: what one look alone finds is not told', async () => {
  let looks = 0
  const lines: object[] = []
  const note = (fields: object) => void lines.push(fields)
  const watch = watchNeighbours({
    name: 'peers',
    codes: ['peer-silent'],
    log: { warn: note, info: note },
    everyMs: 1,
    async look(findings: Findings) {
      looks += 1
      if (looks % 2 === 0) findings.add(silent)
    },
  })
  await expect.poll(() => looks, { interval: 1 }).toBeGreaterThan(6)
  watch.close()
  expect(lines).toEqual([])
})
