// Goal: the stand-ins of the other families end with the network that started them, however it ends.
// Method: a starter in a process of its own that is killed with SIGKILL before its chains are up.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { waitUntil } from '../src/waitUntil.ts'
import { allGone, networkFolder } from './support/networkBench.ts'
import { firstServicePort } from './support/servicePorts.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))
const runner = fileURLToPath(new URL('support/familyRunner.ts', import.meta.url))

it('end with a starter that is killed', async () => {
  const directory = await networkFolder()
  const words = [runner, directory, String(firstServicePort())]
  const starter = spawn(process.execPath, words, {
    cwd: repositoryRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    starter.kill('SIGKILL')
  })
  const [line] = await once(createInterface({ input: starter.stdout }), 'line')
  const { pid } = JSON.parse(String(line))
  expect(await allGone([pid])).toBe(false)
  starter.kill('SIGKILL')
  await waitUntil('the stand-ins are gone', () => allGone([pid]))
  expect(await readFile(join(directory, 'logs', 'families.log'), 'utf8')).toContain('the network is gone')
})
