import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { adoptExitFile, headBlock } from './chainFiles.ts'

const state = (block: number) => `{"block":{"number":"0x${block.toString(16)}"},"accounts":{}}`
let folder: string
let exitFile: string
let chainFile: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-chain-'))
  exitFile = join(folder, 'base.exit.json')
  chainFile = join(folder, 'base.json')
})

afterEach(async () => {
  await rm(folder, { recursive: true })
})

describe('headBlock', () => {
  it('reads the height of a state file', async () => {
    await writeFile(chainFile, state(300))
    expect(await headBlock(chainFile)).toBe(300n)
  })

  it.each(['', '{', 'nothing of the kind'])('has no answer for %j', async (content) => {
    await writeFile(chainFile, content)
    expect(await headBlock(chainFile)).toBeUndefined()
  })

  it('has no answer without a file', async () => {
    expect(await headBlock(chainFile)).toBeUndefined()
  })
})

describe('adoptExitFile', () => {
  const adopt = async (isWhole: boolean) => {
    const adopted = await adoptExitFile(exitFile, chainFile, { isWhole })
    return { adopted, files: await readdir(folder) }
  }

  it('takes what a node wrote when it ended', async () => {
    await writeFile(exitFile, state(8))
    await writeFile(chainFile, state(7))
    expect(await adopt(false)).toEqual({ adopted: true, files: ['base.json'] })
    expect(await headBlock(chainFile)).toBe(8n)
  })

  it('takes it when nothing was saved before', async () => {
    await writeFile(exitFile, state(8))
    expect(await adopt(false)).toEqual({ adopted: true, files: ['base.json'] })
  })

  it('drops a torn file and keeps the saved one', async () => {
    await writeFile(exitFile, state(8).slice(0, -3))
    await writeFile(chainFile, state(7))
    expect(await adopt(false)).toEqual({ adopted: false, files: ['base.json'] })
    expect(await readFile(chainFile, 'utf8')).toBe(state(7))
  })

  it('drops a file that is older than the saved one, however well its node ended', async () => {
    await writeFile(exitFile, state(6))
    await writeFile(chainFile, state(7))
    expect(await adopt(true)).toEqual({ adopted: false, files: ['base.json'] })
    expect(await readFile(chainFile, 'utf8')).toBe(state(7))
  })

  it('does nothing where no node ended', async () => {
    await writeFile(chainFile, state(7))
    expect(await adopt(false)).toEqual({ adopted: false, files: ['base.json'] })
  })
})
