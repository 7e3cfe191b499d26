import { randomUUID } from 'node:crypto'
import { link, rename, rm, writeFile } from 'node:fs/promises'
import { ConfigurationError } from '@causeway/core'
import { z } from 'zod'
import { writeFileAtomically } from '../files/atomicFile.ts'
import { isMissingFile, readJsonFile } from '../files/jsonFile.ts'
import { type IdentifiedProcess, isSameProcess, processIdentity, stopProcess } from './processIdentity.ts'

const identified = { pid: z.number().int().positive(), identity: z.string().min(1) }
const runSchema = z.object({
  ...identified,
  children: z.array(z.object({ ...identified, name: z.string() })),
})

type Run = z.infer<typeof runSchema>

/** File that names the process that runs a network and its children, so that a later start can clean up after a crash. */
export type RunFile = {
  /** Records a process before its work begins. A process that has ended already is left out. */
  add(name: string, pid: number): Promise<void>
  remove(pid: number): Promise<void>
  /** To be called when nothing of this run is left. */
  release(): Promise<void>
}

export type TakenRunFile = {
  readonly runFile: RunFile
  /** Names of processes that a killed run had left behind and that were stopped now. */
  readonly stoppedOrphans: readonly string[]
}

/** Longer than a node needs to write its state. */
const orphanGraceMs = 20_000
const attemptsMax = 5

/**
 * Makes this process the one that runs the network. Processes that a killed run left are stopped, the last started first.
 * @param processName what the file belongs to, for the error
 * @throws ConfigurationError naming the process that runs it already
 */
export async function takeRunFile(path: string, processName = 'a local network'): Promise<TakenRunFile> {
  const own = await ownProcess()
  const stoppedOrphans: string[] = []
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    if (await createExclusively(path, { ...own, children: [] })) {
      return { runFile: createRunFile(path, own), stoppedOrphans }
    }
    const stale = await readStaleRun(path, processName)
    for (const child of [...(stale?.children ?? [])].reverse()) {
      if (await stopProcess(child, { graceMs: orphanGraceMs })) stoppedOrphans.push(child.name)
    }
    await removeStale(path, stale)
  }
  throw new ConfigurationError(`${path} changes hands all the time: several starts run at once`)
}

function createRunFile(path: string, own: IdentifiedProcess): RunFile {
  let children: Run['children'] = []
  // One write after the other: the file holds the last state and never an older one.
  let lastWrite: Promise<void> = Promise.resolve()
  const write = (): Promise<void> => {
    lastWrite = lastWrite.then(() => writeFileAtomically(path, serialized({ ...own, children })))
    return lastWrite
  }
  return {
    async add(name, pid) {
      const identity = await processIdentity(pid)
      if (identity === undefined) return
      children = [...children, { name, pid, identity }]
      await write()
    },
    async remove(pid) {
      children = children.filter((child) => child.pid !== pid)
      await write()
    },
    async release() {
      await lastWrite
      await rm(path, { force: true })
    },
  }
}

async function ownProcess(): Promise<IdentifiedProcess> {
  const { pid } = process
  // `unknown` is no process's identity, so a later start counts the file as stale.
  return { pid, identity: (await processIdentity(pid)) ?? 'unknown' }
}

/** Creates the file with its whole content, or fails where one exists: only a hard link does both in one step. */
async function createExclusively(path: string, run: Run): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}.tmp`
  await writeFile(temporary, serialized(run))
  try {
    await link(temporary, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  } finally {
    await rm(temporary)
  }
}

/** @throws ConfigurationError when the recorded process still runs */
async function readStaleRun(path: string, processName: string): Promise<Run | undefined> {
  const file = await readJsonFile(path)
  if (file.kind === 'missing') return undefined
  const parsed = runSchema.safeParse(file.json)
  if (!parsed.success) return undefined
  if (await isSameProcess(parsed.data)) {
    const { pid } = parsed.data
    throw new ConfigurationError(
      `${processName} already runs here as process ${pid}: stop it with Ctrl-C, or with: kill ${pid}`,
    )
  }
  return parsed.data
}

/** Another start may have replaced the stale file meanwhile; then its file is put back. */
async function removeStale(path: string, stale: Run | undefined): Promise<void> {
  const aside = `${path}.${randomUUID()}.stale`
  try {
    await rename(path, aside)
  } catch (error) {
    if (isMissingFile(error)) return
    throw error
  }
  const moved = await readJsonFile(aside)
  const parsed = moved.kind === 'found' ? runSchema.safeParse(moved.json) : undefined
  if (parsed?.success && parsed.data.identity !== stale?.identity) await link(aside, path)
  await rm(aside)
}

function serialized(run: Run): string {
  return `${JSON.stringify(run, null, 2)}\n`
}
