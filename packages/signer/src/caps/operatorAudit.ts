import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { z } from 'zod'

/** An operator's command that changes a service whose state lies in `STATE_DIR`, such as releasing a held signature. */
export type OperatorChange = {
  /** The command, e.g. `halted.clear`. */
  readonly action: string
  /** Target of the action: a chain, an id; `-` for the whole service. */
  readonly subject: string
  readonly reason?: string | undefined
}

/** A command as the command `audit list` shows it. */
export type AuditedChange = OperatorChange & {
  /** ISO time. */
  readonly at: string
  /** `cli:<account>` of the machine. */
  readonly actor: string
  /** `done`, `unchanged` where nothing had to change, `failed`, or `begun` where the process died before the end. */
  readonly outcome: string
}

/** The record of operators' commands: a file `audit.jsonl` in `STATE_DIR`. */
export interface OperatorAudit {
  /**
   * Writes a line with the command, makes the change, and writes a line with the outcome. The first line is on disk
   * before the change, so no change is without a line. @param change resolves to true where it changed anything
   * @throws ConfigurationError when the first line cannot be written: nothing was changed; what `change`
   * throws; and ConfigurationError when the second line cannot be written: `list` then shows `begun`
   */
  record(command: OperatorChange, change: () => Promise<boolean>): Promise<boolean>
  /** Newest first. @throws ConfigurationError when the file cannot be read */
  list(): Promise<readonly AuditedChange[]>
}

const fileName = 'audit.jsonl'
/** Longer subjects and reasons are cut. */
const charactersMax = 1_000

const changeSchema = z.object({
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
        id,
        at,
        actor,
        action,
        subject: subject.slice(0, charactersMax),
        ...(reason !== undefined && { reason: reason.slice(0, charactersMax) }),
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
        .flatMap((line): AuditedChange[] => {
          const parsed = changeSchema.safeParse(line)
          if (!parsed.success) return []
          const { id, ...command } = parsed.data
          return [{ ...command, outcome: outcomes.get(id) ?? 'begun' }]
        })
        .reverse()
    },
  }
}

/** Text for a terminal, one line per command. */
export function describeAudit(changes: readonly AuditedChange[]): string {
  if (changes.length === 0) return 'Nothing was changed.'
  return changes
    .map(({ at, actor, action, subject, outcome, reason }) =>
      [at, actor, action, subject, outcome, ...(reason === undefined ? [] : [reason])]
        .map(escapeControls)
        .join('  '),
    )
    .join('\n')
}

/** Shows control characters as their code points, so that a terminal does not obey them. */
const escapeControls = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)

/** Writes a line to the disk (`fsync`) before it resolves. It is one write, so lines of two commands never mix. */
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

/** Parsed lines; a line that is no JSON, because it was cut or edited, is left out. */
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
