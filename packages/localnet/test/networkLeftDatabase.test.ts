// Goal: a database whose service was killed does not outlive the network, nor its files.
// Method: a real embedded PostgreSQL whose owner is killed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { setStateAside } from '../src/network/localDirectory.ts'
import { localPaths } from '../src/network/localPaths.ts'
import { stopOrphanedDatabases } from '../src/network/orphanedDatabases.ts'
import { allGone, networkFolder } from './support/networkBench.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))
const ownerScript = fileURLToPath(new URL('support/databaseOwner.ts', import.meta.url))

/** A folder with a database that runs. @returns the server's process id, and a way to kill its owner */
async function runDatabase(directory: string) {
  const dataDirectory = join(directory, 'postgres')
  await mkdir(dataDirectory, { recursive: true })
  const owner = spawn(process.execPath, [ownerScript, dataDirectory], {
    cwd: repositoryRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(owner, 'exit')
  const [line] = await once(createInterface({ input: owner.stdout }), 'line')
  const pid = Number(line)
  const killOwner = async () => {
    owner.kill('SIGKILL')
    await exited
  }
  onTestFinished(async () => {
    await killOwner()
    if (!(await allGone([pid]))) process.kill(pid, 'SIGKILL')
  })
  return { pid, killOwner }
}

describe('stopOrphanedDatabases', () => {
  it('ends a database whose owner was killed', async () => {
    const directory = await networkFolder()
    const { pid, killOwner } = await runDatabase(directory)
    await killOwner()
    expect(await allGone([pid])).toBe(false)
    await stopOrphanedDatabases(directory)
    expect(await allGone([pid])).toBe(true)
    await stopOrphanedDatabases(directory)
    expect(await readdir(directory)).toEqual(['postgres'])
  })

  it('does not touch a database whose owner lives', async () => {
    const directory = await networkFolder()
    const { pid } = await runDatabase(directory)
    await expect(stopOrphanedDatabases(directory)).rejects.toThrow('in use by process')
    expect(await allGone([pid])).toBe(false)
  })
})

describe('setStateAside', () => {
  it('O-102: ends a left database before its files are moved, all of them', async () => {
    const directory = await networkFolder()
    const { pid, killOwner } = await runDatabase(directory)
    await killOwner()
    const place = await setStateAside(localPaths(directory), { now: new Date(), release: '0.2.0' })
    expect(await allGone([pid])).toBe(true)
    expect((await readdir(directory)).toSorted()).toEqual(['chains', basename(place ?? '')])
    expect(await readdir(join(place ?? '', 'postgres', 'cluster'))).toContain('PG_VERSION')
  })
})
