// Goal: what an oracle counted outlives it, whatever becomes of its disk. Attacks: a disk that fills up in the middle of a
// line, a folder that is emptied or replaced while the process runs. Method: a file system of four mebibytes, filled to the
// last byte; where none may be mounted, a file in the place of the folder.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ConfigurationError } from '@causeway/core'
import { expect, onTestFinished, test } from 'vitest'
import { createLineJournal } from './lineJournal.ts'

const run = promisify(execFile)
const name = 'kept.jsonl'

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'causeway-journal-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

/** A folder that takes nothing more, until it does. */
async function failingFolder() {
  const place = await folder()
  const directory = join(place, 'state')
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', place])
  } catch {
    const aside = `${directory}-aside`
    return {
      directory,
      async fill() {
        await rename(directory, aside)
        await writeFile(directory, '')
      },
      empty: () => rm(directory),
    }
  }
  onTestFinished(() => run('umount', [place]).then(() => {}))
  const filler = join(place, 'filler')
  return {
    directory,
    fill: () => writeFile(filler, Buffer.alloc(4 * 1024 * 1024, 1)).catch(() => {}),
    empty: () => rm(filler),
  }
}

function openIn(directory: string) {
  const entries: string[] = []
  const failures: unknown[] = []
  const journal = createLineJournal<string>({
    directory,
    name,
    toLine: (entry) => JSON.stringify(entry),
    parse: (line) => (typeof line === 'string' ? line : undefined),
    brokenLineError: (number) => new ConfigurationError(`line ${number}`),
    onFailed: (error) => failures.push(error),
  })
  journal.begin(() => entries)
  return {
    journal,
    failures,
    append(entry: string) {
      entries.push(entry)
      journal.append(entry)
    },
    stored: async () => (await readFile(join(directory, name), 'utf8')).split('\n').slice(0, -1),
  }
}

/** Longer than what a file system has left of its last page. */
const long = (letter: string) => letter.repeat(300_000)
const line = (letter: string) => JSON.stringify(long(letter))

test('O-93: what a full disk refused is written once there is room, and no half line stays', async () => {
  const { directory, fill, empty } = await failingFolder()
  const { journal, append, failures, stored } = openIn(directory)
  append(long('a'))
  expect(journal.isKept()).toBe(true)
  await fill()
  append(long('b'))
  append(long('c'))
  expect(journal.isKept()).toBe(false)
  expect(failures.length).toBeGreaterThan(0)
  await empty()
  expect(journal.isKept()).toBe(true)
  append('d')
  journal.close()
  expect(await stored()).toEqual([line('a'), line('b'), line('c'), '"d"'])
})

test('O-93: an entry that follows a refused one brings it along', async () => {
  const { directory, fill, empty } = await failingFolder()
  const { journal, append, stored } = openIn(directory)
  await fill()
  append(long('a'))
  journal.isKept()
  await empty()
  append('b')
  journal.close()
  expect(await stored()).toEqual([line('a'), '"b"'])
})

test('O-93: a folder that is emptied while the process runs is filled again', async () => {
  const directory = await folder()
  const { journal, append, failures, stored } = openIn(directory)
  append('a')
  await rm(directory, { recursive: true })
  append('b')
  expect([journal.isKept(), failures]).toEqual([true, []])
  expect(await stored()).toEqual(['"a"', '"b"'])
  journal.close()
})
