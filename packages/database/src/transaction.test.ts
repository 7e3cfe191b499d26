import type { SqlWriteTx } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { type RunStatement, runTransaction } from './transaction.ts'

/** A server that answers only when told to, or refuses some statements at once. */
function scriptedServer({ refuses = [] }: { refuses?: readonly string[] } = {}) {
  const statements: string[] = []
  const waiting: (() => void)[] = []
  const run: RunStatement = (text) => {
    statements.push(text)
    const answer = { rows: [], command: text.toUpperCase(), rowCount: 0, oid: 0, fields: [] }
    return refuses.includes(text)
      ? Promise.reject(new Error(`refused: ${text}`))
      : new Promise((resolve) => waiting.push(() => resolve(answer)))
  }
  const answerAll = async () => {
    for (const answer of waiting.splice(0)) answer()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { statements, run, answerAll }
}

describe('what waits for what', () => {
  test('the first statement waits for begin', async () => {
    const { statements, run, answerAll } = scriptedServer()
    const done = runTransaction(run, (tx) => tx.query('read'))
    expect(statements).toEqual(['begin'])
    for (let round = 0; round < 3; round += 1) await answerAll()
    await done
    expect(statements).toEqual(['begin', 'read', 'commit'])
  })

  test('unless it only reads; and the commit does not wait for what was sent', async () => {
    const { statements, run, answerAll } = scriptedServer()
    const work = async (tx: SqlWriteTx) => {
      await tx.query('read')
      tx.send('write')
      tx.send('write more')
    }
    const done = runTransaction(run, work, { opensWithRead: true })
    expect(statements).toEqual(['begin', 'read'])
    await answerAll()
    expect(statements).toEqual(['begin', 'read', 'write', 'write more', 'commit'])
    await answerAll()
    await done
  })
})

test('after a begin that was refused nothing is sent but a rollback', async () => {
  const { statements, run, answerAll } = scriptedServer({ refuses: ['begin'] })
  let isBeyond = false
  const work = async (tx: SqlWriteTx) => {
    await tx.query('read')
    isBeyond = true
    tx.send('write')
  }
  const failed = expect(runTransaction(run, work, { opensWithRead: true })).rejects.toThrow('refused: begin')
  for (let round = 0; round < 3; round += 1) await answerAll()
  await failed
  expect([statements, isBeyond]).toEqual([['begin', 'read', 'rollback'], false])
})

test('a snapshot is opened by the message that begins it', async () => {
  const { statements, run, answerAll } = scriptedServer()
  const options = { isSnapshot: true, opensWithRead: true, begin: 'begin; set local a = 1' }
  const done = runTransaction(run, (tx) => tx.query('read'), options)
  expect(statements).toEqual([
    'begin; set local a = 1; set transaction isolation level repeatable read, read only',
    'read',
  ])
  for (let round = 0; round < 2; round += 1) await answerAll()
  await done
})

test('a transaction that opens with a read sends nothing before it', async () => {
  const { statements, run, answerAll } = scriptedServer()
  const done = runTransaction(run, async (tx) => tx.send('write'), { opensWithRead: true })
  const failed = expect(done).rejects.toThrow('opens with a read')
  await answerAll()
  await answerAll()
  await failed
  expect(statements).toEqual(['begin', 'rollback'])
})
