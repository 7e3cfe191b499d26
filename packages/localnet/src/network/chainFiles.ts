import { open, readFile, rename, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { writeFileAtomically } from '../files/atomicFile.ts'
import { isMissingFile } from '../files/jsonFile.ts'
import type { LocalChain } from '../nodes/localChain.ts'

const inflate = promisify(gunzip)
/** The block number stands at the start of a chain file. */
const startBytes = 256

/**
 * Saves a running chain so that a kill at any moment leaves a whole file: the node's own periodic
 * write truncates the file first. The file lacks the states of past blocks, which a node writes only when it ends.
 */
export async function saveChain(chain: LocalChain, path: string): Promise<void> {
  const dump = await chain.node.dumpState()
  await writeFileAtomically(path, await inflate(Buffer.from(dump.slice(2), 'hex')))
}

/**
 * Replaces the chain file by the file that a node wrote when it ended, unless that is torn or older.
 * @param isWhole true when the node ended well, so that its file need not be checked
 * @returns true when the file was replaced
 */
export async function adoptExitFile(
  exitFile: string,
  chainFile: string,
  { isWhole }: { readonly isWhole: boolean },
): Promise<boolean> {
  const [ended, saved] = await Promise.all([headBlock(exitFile), headBlock(chainFile)])
  const isNewest = ended !== undefined && (saved === undefined || ended >= saved)
  if (isNewest && (isWhole || (await isJson(exitFile)))) {
    await rename(exitFile, chainFile)
    return true
  }
  await rm(exitFile, { force: true })
  return false
}

/** Height of the state in a chain file, read from its first bytes; `undefined` when there is none. */
export async function headBlock(path: string): Promise<bigint | undefined> {
  const start = await readStart(path)
  const match = /^\{"block":\{"number":"(0x[0-9a-f]+)"/.exec(start)
  return match?.[1] === undefined ? undefined : BigInt(match[1])
}

async function readStart(path: string): Promise<string> {
  try {
    const file = await open(path, 'r')
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(startBytes), 0, startBytes, 0)
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isMissingFile(error)) return ''
    throw error
  }
}

/** A file too large for one string counts as torn: the saved one is at most a second older. */
async function isJson(path: string): Promise<boolean> {
  try {
    JSON.parse(await readFile(path, 'utf8'))
    return true
  } catch {
    return false
  }
}
