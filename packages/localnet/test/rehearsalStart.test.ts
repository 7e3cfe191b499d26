import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@causeway/database'
import { expect, onTestFinished, test } from 'vitest'
import { startRehearsal } from '../src/index.ts'

test('O-132: a rehearsal that cannot start stops the database that was still starting', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-rehearsal-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const [good, none] = [`0x${'11'.repeat(32)}`, `0x${'00'.repeat(32)}`] as const
  let asked = 0
  // The sixth key is that of the key management, which refuses it at once.
  const randomKey = () => {
    asked += 1
    return asked === 6 ? none : good
  }
  await expect(startRehearsal({ directory, report: () => {}, randomKey })).rejects.toThrow()
  // Refused while a server of this process runs there.
  const server = await startEmbeddedPostgres({ dataDirectory: join(directory, 'postgres') })
  await server.stop()
}, 120_000)
