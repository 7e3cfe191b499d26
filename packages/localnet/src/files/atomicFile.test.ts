import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeFileAtomically } from './atomicFile.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-atomic-'))
})

afterEach(async () => {
  await rm(folder, { recursive: true })
})

describe('writeFileAtomically', () => {
  it('shows a reader one whole content at any time', async () => {
    const path = join(folder, 'file')
    const contents = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(300_000))
    await writeFileAtomically(path, 'first')
    const seen = new Set<string>(['first'])
    let writing = true
    const reading = (async () => {
      while (writing) seen.add(await readFile(path, 'utf8'))
    })()
    for (const content of contents) await writeFileAtomically(path, content)
    writing = false
    await reading
    expect([...seen].filter((content) => content !== 'first' && !contents.includes(content))).toEqual([])
    expect(await readFile(path, 'utf8')).toBe(contents.at(-1))
    expect(await readdir(folder)).toEqual(['file'])
  })

  it('leaves no draft when the file cannot be replaced', async () => {
    const path = join(folder, 'taken')
    await mkdir(join(path, 'inside'), { recursive: true })
    await expect(writeFileAtomically(path, 'content')).rejects.toThrow()
    expect(await readdir(folder)).toEqual(['taken'])
  })
})
