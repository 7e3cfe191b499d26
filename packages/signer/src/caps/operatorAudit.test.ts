// Goal: no change by an operator without a line. Attackers: an operator who kills the command half-way, a reason that
// clears a terminal or forges a line, a folder that cannot be written.
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createOperatorAudit, describeAudit } from './operatorAudit.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-audit-'))
})
afterEach(async () => {
  await rm(directory, { recursive: true })
})

const options = { nowMs: () => Date.parse('2026-11-25T12:00:00.000Z'), actor: 'cli:alice' }
const at = '2026-11-25T12:00:00.000Z'
const deed = { action: 'halted.clear', subject: 'base' }

test('a change has one line, and one that changed nothing too, newest first', async () => {
  const audit = createOperatorAudit(directory, options)
  expect(await audit.record(deed, async () => true)).toBe(true)
  expect(await audit.record({ ...deed, subject: 'optimism', reason: 'looked at' }, async () => false)).toBe(
    false,
  )
  expect(await audit.list()).toEqual([
    { at, actor: 'cli:alice', ...deed, subject: 'optimism', reason: 'looked at', outcome: 'unchanged' },
    { at, actor: 'cli:alice', ...deed, outcome: 'done' },
  ])
})

test('O-187: the line is on disk before the change is made, so that a kill between them leaves one', async () => {
  const audit = createOperatorAudit(directory, options)
  let seen: Awaited<ReturnType<typeof audit.list>> = []
  await audit.record(deed, async () => {
    seen = await createOperatorAudit(directory).list()
    return true
  })
  expect(seen).toEqual([{ at, actor: 'cli:alice', ...deed, outcome: 'begun' }])
})

test('a change that fails has a line and its own error', async () => {
  const audit = createOperatorAudit(directory, options)
  const failing = audit.record(deed, async () => {
    throw new ConfigurationError('base is not halted')
  })
  await expect(failing).rejects.toThrow('base is not halted')
  expect((await audit.list()).map(({ outcome }) => outcome)).toEqual(['failed'])
})

test('O-187: where no line can be written nothing is changed', async () => {
  // A file where the folder should be: root may write into a folder without rights.
  const path = join(directory, 'file')
  await writeFile(path, '')
  let isChanged = false
  const refused = createOperatorAudit(path, options).record(deed, async () => {
    isChanged = true
    return true
  })
  await expect(refused).rejects.toThrow(/audit.jsonl cannot be written/)
  expect(isChanged).toBe(false)
})

test('a hostile reason forges no line and moves no cursor', async () => {
  const audit = createOperatorAudit(directory, options)
  const reason = `\u001b[2J\u009b2J\u202e","outcome":"done"}\n{"id":"1","at":"${at}","actor":"cli:bob","action":"x","subject":"y"}`
  await audit.record(
    { ...deed, subject: `${reason}`, reason: reason + 'z'.repeat(100_000) },
    async () => true,
  )
  const listed = await audit.list()
  expect(listed.map(({ actor }) => actor)).toEqual(['cli:alice'])
  expect(describeAudit(listed).split('\n')).toHaveLength(1)
  for (const character of ['\u001b', '\u009b', '\u202e'])
    expect(describeAudit(listed)).not.toContain(character)
  expect((await readFile(join(directory, 'audit.jsonl'), 'utf8')).length).toBeLessThan(3_000)
})

test('a line that was cut hides no other one, and the file is for its owner alone', async () => {
  const audit = createOperatorAudit(directory, options)
  await audit.record(deed, async () => true)
  const path = join(directory, 'audit.jsonl')
  await writeFile(path, `${(await readFile(path, 'utf8')).trimEnd()}\n{"id":"2","at`, { flag: 'w' })
  expect(await audit.list()).toHaveLength(1)
  await chmod(path, 0o600)
  expect(describeAudit([])).toBe('Nothing was changed.')
})
