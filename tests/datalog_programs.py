"""Small Datalog programs in every part of the language, with the rows of their relation `a`."""

EDGES = ".decl e(x: number, y: number)\ne(1,2). e(1,3). e(2,3). e(3,3).\n"
NUMBER_HEAD = ".decl a(x: number)\n.output a\n"
TEXT_HEAD = ".decl a(x: symbol)\n.output a\n"
NUMBER_TYPES = """
.type A = number
.type B <: A
.number_type C
.decl b(x: B)
b(3).
.decl c(x: C)
c(x + 1) :- b(x).
c(as(x, C)) :- b(x).
a(x) :- c(x).
"""
SYMBOL_TYPES = """
.type A <: symbol
.type B <: symbol
.type U = A | B
.symbol_type C
.type D
.decl p(x: A)
.decl q(x: U)
p("p").
q(x) :- p(x).
p(x) :- q(x), p(x).
a(x) :- q(x), p(x).
"""

NUMBERS = [
    ("a(range(0,5)).", {0, 1, 2, 3, 4}),
    ("a(x) :- x = range(5,0,-2).", {5, 3, 1}),
    ("a(x) :- x = range(9,6).", {9, 8, 7}),
    ("a(x) :- x = range(1,1).", set()),
    ("a(x) :- x = range(1,2,0).", {1}),
    ("a(x) :- x = range(2,1,0).", set()),
    ("a(x + y) :- x = range(0,2), y = range(0,x).", {1}),
    ("a(y) :- y = range(0, x), x = range(0, z, 2), z = 1 + 4.", {0, 1, 2, 3}),
    ("a(x) :- s = range(-1, 2), x = range(0, 3 * s, s).", {0, -1, -2, 1, 2}),
    ("a(y) :- x = 2 - z, z = range(0, 3), x != 0, y = range(0, 2 / x).", {0, 1}),
    ("a(y) :- b(x), !c(x), y = range(0, 6 / x).\n.decl b, c(x: number)\nb(0). b(3). c(0).", {0, 1}),
    ("a(x) :- x = 1. a(y) :- a(x), y = range(x, x * 3), y < 5.", {1, 2, 3, 4}),
    ("a(n) :- n = count : { _ = range(0,10) }.", {10}),
    ("a(n) :- m = 4, n = sum y : { y = range(0, m) }.", {6}),
    ("a(x) :- (x = 1; x = 2; x = 3), !(x = 2 ; x = 5), x != 7, true.", {1, 3}),
    ("a(x) :- x = 10, false.", set()),
    ("a(x) :- x = 20, !false, !(true, x = 21).", {20}),
    ("a(x) :- x = 1 ; x = 2, x > 1 ; 3 = x.", {1, 2, 3}),
    ("a(1), a(2) :- true.", {1, 2}),
    ("a(1 + 2 * 3 ^ 2 - -4 ** 1).", {23}),
    ("a(0x1F + 0b11 + 10 bshl 2 band 0xff).", {176}),
    ("a(-2^2). a(2^3^0). a(-7/2). a(-7%4). a(7%-4).", {-4, 2, -3, 3}),
    ("a(bnot 0). a(lnot 3 lor 4 land 0). a(7 bxor 2 lxor 0).", {-1, 0, 1}),
    ("a(6 & 3). a(4 | 1). a(-1 bshru 60). a(1 bshl 63). a(-8 bshr 1).",
     {2, 5, 15, -(2**63), -4}),
    ("a(9223372036854775807). a(-9223372036854775808).", {2**63 - 1, -(2**63)}),
    ("a(127.0.0.1).", {2130706433}),
    ('a(strlen("a\\"b\\\\\\n")). a(to_number("-0x1f")). a(ftoi(-2.7)).', {5, -31, -2}),
    ("a(max(1,-1,7)). a(min(4, 3)). a(utoi(9u)).", {7, 3, 9}),
    ("a(min(max(1, 2), 3)).", {2}),
    (NUMBER_TYPES, {3, 4}),
    (".decl n()\n.decl m()\nn(). m() :- n(), !k(). .decl k()\na(30) :- m().", {30}),
    ("/* a(1). */ a(2). // a(3).", {2}),
    ('a(?x) :- ?x = 4. .plan 0:(1)\n.pragma "magic-transform" "*"\na(5).', {4, 5}),
    (".decl b, c(x: number) brie\nb(1). c(2). a(x) :- b(x) ; c(x).", {1, 2}),
    (".decl d(x: number) inline\nd(1). a(x):-d(x),x>-1,x<=1.", {1}),
]  # fmt: skip

TEXTS = [
    ('a(cat("a")). a(cat("x","y","z")).', {"a", "xyz"}),
    ('a(substr("hello",1,3)). a(substr("hello",9,3)). a(substr("hello",3,-1)).',
     {"ell", "", "lo"}),
    ("a(to_string(-12)). a(to_string(1.5)). a(to_string(3u)).", {"-12", "1.5", "3"}),
    ('a(min("b","a","c")). a(max("b","a","c")).', {"a", "c"}),
    ('a(x) :- (x = "abc"; x = "b"), match("a.*", x).', {"abc"}),
    ('a(x) :- (x = "abc"; x = "b"), !match("a.*", x), contains("b", x).', {"b"}),
    ('a(cat(x, y)) :- (x = "("; x = "b"), (y = "a"; y = "b"), !match(x, y).', {"ba"}),
    ('a(cat(x, y)) :- (x = "("; x = "b"), (y = "a"; y = "b"), match(x, y).', {"bb"}),
    ('a(x) :- (x = "Z"; x = "a"; x = "\u00e9"), x < "b".', {"Z", "a"}),
    ('a(x) :- (x = "a1"; x = "b"; x = "]"), match("[[:alpha:]]+[[:digit:]]?", x).', {"a1", "b"}),
    ('a(x) :- (x = "1"; x = "b"; x = "]"), match("[^[:digit:]a-c]|[:digt1]", x).', {"1", "]"}),
    ('a("x" + "y" + "z").', {"xyz"}),
    ('a(x + "-" + y) :- x = "l", (y = "m"; y = x + "n").', {"l-m", "l-ln"}),
    ('a(x) :- (x = "ab"; x = "b"), "a" + y = x, y = "b".', {"ab"}),
    ('a("tab\\there").', {"tab\there"}),
    (SYMBOL_TYPES, {"p"}),
]  # fmt: skip

AGGREGATES = [
    ("a(n) :- n = count : { e(_,_) }.", {4}),
    ("a(n) :- n = count : e(1,_).", {2}),
    ("a(n) :- e(x,_), n = count : { e(x,_) }.", {2, 1}),
    ("a(n) :- n = count : { e(9,_) }.", {0}),
    ("a(n) :- n = max y : { e(9,y) }.", set()),
    ("a(n) :- n = sum y : { e(9,y) }.", {0}),
    ("a(n) :- n = sum(y * 2) : { e(_,y) } + max(z) : { e(_,z) }.", {25}),
    ("a(max(count : { e(1,_) }, min y : { e(_,y) }, 0)).", {2}),
    ("a(x) :- e(_,x), 0 = count : { e(x,y), y != x }.", {3}),
    ("a(x) :- e(x,_), count : { e(x,_) } = 2.", {1}),
    ("a(n) :- e(x,_), n = sum y : { e(x,_), y = count : { e(_,z), e(x,z) } }.", {8, 3}),
    ("a(s) :- e(x,_), s = sum z + w : { e(x,z), e(z,w) }.", {11, 6}),
    ("a(n) :- n = count : { e(x,y), x < y }, x = 1, y = 2.", {1}),
    ("a(x) :- m = max y : { e(x,y), y > x }, m = 3.", {1, 2}),
    ("a(x) :- 3 = max y : { e(x,y) }.", {1, 2, 3}),
    ("a(n) :- e(x,_), n = max n : { e(x,n) }.", {3}),
    ("a(n) :- e(n,_), n = max n : { e(_,n) }.", {3}),
    ("a(s) :- e(k,2), s = sum y * k : { e(k,y) }.", {20}),
    ("a(s) :- e(k,2), s = sum y * j : { e(j,y), j = k }.", {5}),
    ("a(s) :- k = 3, s = sum y * k : { e(2,y) }.", {9}),
    ("a(x + 10 * m) :- m = min x : { e(x,_) }, e(x,3), x > 1.", {12, 13}),
    ("a(1). a(n) :- a(x), e(x,y), n = count : { e(z,w), z < y }.", {1, 2, 3}),
    ("a(1). a(n) :- a(x), e(x,y), e(_,k), n = sum x : { e(x,w), w < y, w < k }.", {0, 1}),
    ("a(n) :- n = sum 1 : { e(x,_), e(_,y), x = x, y = y }.", {16}),
    ("a(n) :- n = sum x : { e(x,_), !e(x,x) }.", {4}),
    ("a(to_number(m)) :- m = mean y : { e(_,y) }.", {2}),
    ("a(to_number(4.0 * mean y : { e(_,y) })).", {11}),
    ("a(x + y) :- x = count : { e(n,_), n = 1 }, y = count : { e(n,_), n = 2 }.", {3}),
    ("a(7). a(v) :- e(_,v), w = 1 / (v - 2), a(k), n = sum y : { e(k,y), y <= v }, k > 9.", {7}),
    ("a(1). a(n) :- a(x), n = x + count : { e(y,_), y > x }.", {1, 3}),
    ("a(0). a(n) :- a(x), x < 4, n = x + 1 + count : { e(y,_), y = max z : { e(z,_), z <= x } }.",
     {0, 1, 4}),
    ("a(1). a(n) :- a(x), n = sum y : { e(y,z), z > x, y != x }, n < 20.", {0, 1, 5, 7}),
    ("a(1). a(n) :- a(x), n = x + min y : { e(_,y), y > x }.", {1, 3}),
    ("a(0). a(c + n) :- a(x), c = count : { e(y,_), y <= x }, n = 1 + count : { e(y,_), y <= c }.",
     {0, 1, 6, 9}),
    (""".decl b(x: number) a(1). b(x + 1) :- a(x), x < 9.
a(n) :- b(x), n = x + count : { e(y,z), y + z >= x }.""", {1, 6, 7, 8, 9}),
]  # fmt: skip
