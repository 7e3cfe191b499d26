import { join } from 'node:path'
import ts from 'typescript'
import { emptyKinds, type KubernetesKinds } from './kubernetesKinds.ts'

const kindsFile = join(import.meta.dirname, 'kubernetesKinds.ts')

/** A document of a manifest file, before anything is known of it. */
export type Manifest = Readonly<Record<string, unknown>>

/**
 * Problems that make a cluster refuse a manifest or drop a field of it: the schemas define each field, and an unknown
 * field is a typing mistake.
 */
export function schemaProblems(manifest: Manifest): readonly string[] {
  const id = `${manifest['apiVersion']}/${manifest['kind']}`
  if (!isKnown(id)) return [`${id} is no kind that scripts/checks/deployment/kubernetesKinds.ts lists`]
  const { checker, kinds } = readTypes()
  const unknown = unknownFields(checker, memberType(checker, kinds, id), manifest, '')
  return [
    ...invalidFields(id, manifest),
    ...unknown.map((path) => `${path} is no field of ${manifest['kind']}`),
  ]
}

function isKnown(id: string): id is keyof KubernetesKinds {
  return Object.hasOwn(emptyKinds, id)
}

function invalidFields(id: keyof KubernetesKinds, manifest: Manifest): readonly string[] {
  try {
    Object.assign(emptyKinds[id](), manifest).validate()
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

type Types = { readonly checker: ts.TypeChecker; readonly kinds: ts.Type }
let types: Types | undefined

/** The validators let unknown fields pass, so these are looked up in the types that were made beside them. */
function readTypes(): Types {
  types ??= loadTypes()
  return types
}

function loadTypes(): Types {
  const program = ts.createProgram([kindsFile], {
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
    types: [],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noEmit: true,
    strict: true,
  })
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(kindsFile)
  const alias = file?.statements.find((one) => ts.isTypeAliasDeclaration(one))
  if (alias === undefined) throw new Error(`${kindsFile} has no type of all kinds`)
  return { checker, kinds: checker.getTypeAtLocation(alias.name) }
}

function memberType(checker: ts.TypeChecker, kinds: ts.Type, id: string): ts.Type {
  const member = kinds.getProperty(id)
  if (member === undefined) throw new Error(`${kindsFile} has no type of ${id}`)
  return checker.getTypeOfSymbol(member)
}

function unknownFields(
  checker: ts.TypeChecker,
  declared: ts.Type,
  value: unknown,
  path: string,
): readonly string[] {
  const type = checker.getNonNullableType(declared)
  if (Array.isArray(value)) {
    const item = checker.getIndexTypeOfType(type, ts.IndexKind.Number)
    if (item === undefined) return []
    return value.flatMap((one, index) => unknownFields(checker, item, one, `${path}[${index}]`))
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const at = path === '' ? name : `${path}.${name}`
    const property = checker.getPropertyOfType(type, name)
    const memberOf =
      property === undefined
        ? checker.getIndexTypeOfType(type, ts.IndexKind.String)
        : checker.getTypeOfSymbol(property)
    return memberOf === undefined ? [at] : unknownFields(checker, memberOf, member, at)
  })
}
