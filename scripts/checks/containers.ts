import { DockerfileParser } from 'dockerfile-ast'
import type { Check, Finding, RepositoryFile } from './finding.ts'

const dockerfile = /(^|\/)(Dockerfile|[^/]+\.Dockerfile)$/
const pinnedTag = /:[^:/]*\d[^:/]*$/
const nonRootUser = /^[1-9]\d*:[1-9]\d*$/
const execForm = /^\[\s*".*"\s*\]$/s

/** Rules for all our images: pinned base, a locked install, a numbered user, a health check. */
export const containersCheck: Check = {
  name: 'containers',
  find: (files) => files.filter(({ path }) => dockerfile.test(path)).flatMap(findProblems),
}

type Instruction = { readonly keyword: string; readonly text: string; readonly line: number }
type Stage = { readonly name: string; readonly from: string; readonly instructions: readonly Instruction[] }

function findProblems({ path, text }: RepositoryFile): readonly Finding[] {
  const { stages, variables } = readStages(text)
  const names = new Set(stages.map(({ name }) => name))
  const parents = new Set(stages.map(({ from }) => from))
  const problems = stages.flatMap((stage) => {
    const isFinal = !parents.has(stage.name) && stage !== stages[0]
    return [
      ...(names.has(stage.from) ? [] : baseProblems(stage, variables)),
      ...stage.instructions.flatMap(instructionProblems),
      ...(isFinal ? finalProblems(stage, inherited(stage, stages)) : []),
    ]
  })
  return problems.map((problem) => ({ file: path, problem }))
}

function baseProblems({ name, from }: Stage, variables: ReadonlyMap<string, string>): readonly string[] {
  const image = from.replace(/\$\{?(\w+)\}?/g, (_all, variable: string) => variables.get(variable) ?? '')
  return pinnedTag.test(image) ? [] : [`stage ${name}: base "${image}" needs a tag with a version`]
}

function instructionProblems({ keyword, text, line }: Instruction): readonly string[] {
  if (keyword === 'ADD') return [`line ${line}: COPY what the context holds instead of ADD`]
  if (keyword !== 'RUN' || !/\binstall\b/.test(text) || !/\b(npm|npx|pnpm)\b/.test(text)) return []
  return text.includes('--frozen-lockfile') ? [] : [`line ${line}: install with --frozen-lockfile`]
}

/** A final stage is what a registry gets; what it does not say itself it has from its parents. */
function finalProblems({ name }: Stage, instructions: readonly Instruction[]): readonly string[] {
  const last = (keyword: string) => instructions.findLast((one) => one.keyword === keyword)?.text ?? ''
  const problems: string[] = []
  if (!nonRootUser.test(last('USER'))) problems.push('needs USER uid:gid other than root')
  if (!/CMD\s+\[/.test(last('HEALTHCHECK'))) problems.push('needs a HEALTHCHECK in exec form')
  if (!execForm.test(last('CMD'))) problems.push('needs CMD in exec form, or signals end in a shell')
  return problems.map((problem) => `stage ${name}: ${problem}`)
}

function inherited(stage: Stage, stages: readonly Stage[]): readonly Instruction[] {
  const parent = stages.find(({ name }) => name === stage.from)
  return [...(parent === undefined ? [] : inherited(parent, stages)), ...stage.instructions]
}

export function readStages(text: string): {
  stages: readonly Stage[]
  variables: ReadonlyMap<string, string>
} {
  const variables = new Map<string, string>()
  const stages: (Stage & { instructions: Instruction[] })[] = []
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const keyword = instruction.getKeyword()
    const value = instruction.getRawArgumentsContent() ?? ''
    if (keyword === 'FROM') {
      const [from = '', , name = `${stages.length}`] = value.split(/\s+/)
      stages.push({ name, from, instructions: [] })
    } else if (stages.length === 0 && keyword === 'ARG') {
      const [variable = '', fallback = ''] = value.split('=')
      variables.set(variable, fallback)
    } else {
      stages.at(-1)?.instructions.push({ keyword, text: value, line: instruction.getRange().start.line + 1 })
    }
  }
  return { stages, variables }
}
