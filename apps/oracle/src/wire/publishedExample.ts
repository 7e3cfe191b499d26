/**
 * The documented body of a route. Under this name, because `examples` of a schema that transforms its
 * input are dropped on the way to the interface description.
 */
export const publishedExample = (value: object) => ({ 'x-examples': { published: { value } } })
