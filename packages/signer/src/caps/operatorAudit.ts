import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { z } from 'zod'

/** Action of an operator on a service whose state lies in `STATE_DIR`. */
export type OperatorDeed = {
  /** The command, e.g. `halted.clear`. */
  readonly action: string
  /** Target of the action: a chain, an id; `-` for the whole service. */
  readonly subject: string
  readonly reason?: string | undefined
}

/** One command as `audit list` shows it. */
export type AuditedDeed = OperatorDeed & {
  /** ISO time. */
  readonly at: string
  /** `cli:<account>` of the machine. */
  readonly actor: string
  /** `done`, `unchanged` where it stood so already, `failed`, or `begun` where the process died on the way. */
  readonly outcome: string
}

export interface OperatorAudit {
  /**
   * Makes a change between two lines of the file, of which the first is on disk before anything changes: there is no
   * change without a line. @param change resolves with whether anything changed
   * @throws ConfigurationError when the first line cannot be written, and nothing was changed; whatever `change` throws
   */
  record(deed: OperatorDeed, change: () => Promise<boolean>): Promise<boolean>
  /** Newest first. @throws ConfigurationError when the file cannot be read */
  list(): Promise<readonly AuditedDeed[]>
}

const fileName = 'audit.jsonl'
const lengthMax = 1_000

const deedSchema = z.object({
  id: z.string(),
  at: z.string(),
  actor: z.string(),
  action: z.string(),
  subject: z.string(),
  reason: z.string().optional(),
})
const outcomeSchema = z.object({ id: z.string(), outcome: z.string() })

/** @param options.actor default: the account that runs this process */
export function createOperatorAudit(
  stateDirectory: string,
  options: { readonly nowMs?: () => number; readonly actor?: string } = {},
): OperatorAudit {
  const { nowMs = Date.now, actor = `cli:${userInfo().username}` } = options
  const path = join(stateDirectory, fileName)
  return {
    async record({ action, subject, reason }, change) {
      const id = randomUUID()
      const at = new Date(nowMs()).toISOString()
      await appendLine(stateDirectory, path, {
        ...{ id, at, actor, action, subject: subject.slice(0, lengthMax) },
        ...(reason !== undefined && { reason: reason.slice(0, lengthMax) }),
      })
      let outcome = 'failed'
      try {
        const isChanged = await change()
        outcome = isChanged ? 'done' : 'unchanged'
        return isChanged
      } finally {
        await appendLine(stateDirectory, path, { id, outcome })
      }
    },
    async list() {
      const lines = await readLines(path)
      const outcomes = new Map(
        lines.flatMap((line) => {
          const parsed = outcomeSchema.safeParse(line)
          return parsed.success ? [[parsed.data.id, parsed.data.outcome] as const] : []
        }),
      )
      return lines
        .flatMap((line): AuditedDeed[] => {
          const parsed = deedSchema.safeParse(line)
          if (!parsed.success) return []
          const { id, ...action } = parsed.data
          return [{ ...action, outcome: outcomes.get(id) ?? 'begun' }]
        })
        .reverse()
    },
  }
}

/** One line per command, for people. Characters that a terminal would obey are shown as what they are. */
export function describeAudit(deeds: readonly AuditedDeed[]): string {
  if (deeds.length === 0) return 'Nothing was changed.'
  return deeds
    .map(({ at, actor, action, subject, outcome, reason }) =>
      [at, actor, action, subject, outcome, ...(reason === undefined ? [] : [reason])].map(shown).join('  '),
    )
    .join('\n')
}

const shown = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)

/** On disk when it resolves. One write: lines of two commands never mix. */
async function appendLine(directory: string, path: string, line: object): Promise<void> {
  try {
    await mkdir(directory, { recursive: true })
    const file = await open(path, 'a', 0o600)
    try {
      await file.write(`${JSON.stringify(line)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (error) {
    throw new ConfigurationError(`STATE_DIR: ${fileName} cannot be written.`, { cause: error })
  }
}

/** A line that was cut, or that somebody wrote by hand, is left out. */
async function readLines(path: string): Promise<readonly unknown[]> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw new ConfigurationError(`STATE_DIR: ${fileName} cannot be read.`, { cause: error })
  }
  return text.split('\n').flatMap((line): unknown[] => {
    try {
      return [JSON.parse(line)]
    } catch {
      return []
    }
  })
}
